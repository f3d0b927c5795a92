"""Requests and answers: what is the same for every operation."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, Generic, Mapping, Optional, TypeVar
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

T = TypeVar("T")


@dataclass(frozen=True)
class Answer(Generic[T]):
    """An answer, and what was said beside it. `as_of_block`: block by network that it is of."""

    data: T
    as_of_block: Mapping[str, int]
    credits_used: int
    credits_remaining: Optional[int]
    request_id: str


class VaultlogError(Exception):
    """An answer other than 200. `retry_after`: seconds, where asking again may help."""

    def __init__(
        self, status: int, message: str, error_id: Optional[str], retry_after: Optional[int]
    ) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message
        self.error_id = error_id
        self.retry_after = retry_after


class _SameHost(HTTPRedirectHandler):
    """The key goes to nobody else."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        if urlsplit(newurl)[:2] != urlsplit(req.full_url)[:2]:
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class Transport:
    def __init__(self, base_url: str, api_key: str, timeout: float = 30.0) -> None:
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._timeout = timeout
        self._opener = build_opener(_SameHost)

    def _ask(
        self,
        method: str,
        path: str,
        in_path: Mapping[str, Any],
        query: Mapping[str, Any],
        body: Optional[Mapping[str, Any]] = None,
    ) -> Answer[Any]:
        for name, value in in_path.items():
            path = path.replace("{" + name + "}", quote(_text(value), safe=""))
        pairs = [
            (name, _text(one))
            for name, value in query.items()
            if value is not None
            for one in (value if isinstance(value, (list, tuple)) else [value])
        ]
        url = self._base_url + path + ("?" + urlencode(pairs) if pairs else "")
        headers: Dict[str, str] = {"x-api-key": self._api_key, "accept": "application/json"}
        data = None
        if method != "GET":
            data = json.dumps(body if body is not None else {}).encode()
            headers["content-type"] = "application/json"
        request = Request(url, data=data, headers=headers, method=method)
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                said = response.headers
                return Answer(
                    data=json.load(response),
                    as_of_block=_blocks(said.get("x-as-of-block")),
                    credits_used=int(said.get("x-credits-used", "0")),
                    credits_remaining=_whole(said.get("x-credits-remaining")),
                    request_id=said.get("x-request-id", ""),
                )
        except HTTPError as error:
            raise _failure(error) from None


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _whole(text: Optional[str]) -> Optional[int]:
    return int(text) if text else None


def _blocks(text: Optional[str]) -> Dict[str, int]:
    """mainnet=123, base=456"""
    parts = (part.split("=") for part in (text or "").split(", ") if part)
    return {network: int(block) for network, block in parts}


def _failure(error: HTTPError) -> VaultlogError:
    try:
        body = json.load(error)
    except ValueError:
        body = {}
    return VaultlogError(
        error.code,
        str(body.get("message", error.reason)),
        body.get("errorId"),
        _whole(error.headers.get("retry-after")),
    )
