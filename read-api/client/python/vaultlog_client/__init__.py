"""Typed client of Vaultlog's API: every operation of every tier, with nothing but the standard library."""

from .operations import Operations
from .transport import Answer, VaultlogError


class VaultlogClient(Operations):
    """VaultlogClient("http://127.0.0.1:3080", api_key="…").v2_detailed_vaults_list(perPage=5).data"""


__all__ = ["Answer", "VaultlogClient", "VaultlogError"]
