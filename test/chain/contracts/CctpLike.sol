// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// Written after the contracts of circlefin/evm-cctp-contracts (v2.1): the same functions, events, message layout, checks in the same
/// order and the same reasons. Who may set what up is left out: a test does. They stand at the addresses of production, so
/// nothing is set by a constructor.

/// USDC as the bridge needs it.
contract BridgedToken is ERC20("", "") {
    function name() public pure override returns (string memory) {
        return "USD Coin";
    }

    function symbol() public pure override returns (string memory) {
        return "USDC";
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function mint(address to, uint256 amount) external returns (bool) {
        _mint(to, amount);
        return true;
    }

    function burn(uint256 amount) external {
        _burn(msg.sender, amount);
    }
}

contract MinterLike {
    bool public paused;
    mapping(address => uint256) public burnLimitsPerMessage;
    mapping(uint32 => mapping(bytes32 => address)) private _localTokens;

    function setPaused(bool paused_) external {
        paused = paused_;
    }

    function setLimit(address token, uint256 limit) external {
        burnLimitsPerMessage[token] = limit;
    }

    function link(uint32 remoteDomain, bytes32 remoteToken, address localToken) external {
        _localTokens[remoteDomain][remoteToken] = localToken;
    }

    function burn(address token, uint256 amount) external {
        require(!paused, "Pausable: paused");
        require(burnLimitsPerMessage[token] > 0, "Burn token not supported");
        require(amount <= burnLimitsPerMessage[token], "Burn amount exceeds per tx limit");
        BridgedToken(token).burn(amount);
    }

    function mint(uint32 domain, bytes32 burnToken, address to, address feeTo, uint256 amount, uint256 fee)
        external
        returns (address token)
    {
        require(!paused, "Pausable: paused");
        token = _localTokens[domain][burnToken];
        require(token != address(0), "Mint token not supported");
        BridgedToken(token).mint(to, amount);
        if (fee > 0) BridgedToken(token).mint(feeTo, fee);
    }
}

contract TransmitterLike {
    event MessageSent(bytes message);
    event MessageReceived(
        address indexed caller,
        uint32 sourceDomain,
        bytes32 indexed nonce,
        bytes32 sender,
        uint32 indexed finalityThresholdExecuted,
        bytes messageBody
    );

    uint32 public localDomain;
    bool public paused;
    uint256 public signatureThreshold;
    mapping(address => bool) public isEnabledAttester;
    mapping(bytes32 => uint256) public usedNonces;

    function setUp(uint32 domain, address[] calldata attesters, uint256 threshold) external {
        localDomain = domain;
        for (uint256 i; i < attesters.length; i++) isEnabledAttester[attesters[i]] = true;
        signatureThreshold = threshold;
        usedNonces[bytes32(0)] = 1;
    }

    function setPaused(bool paused_) external {
        paused = paused_;
    }

    function sendMessage(
        uint32 destinationDomain,
        bytes32 recipient,
        bytes32 destinationCaller,
        uint32 minFinalityThreshold,
        bytes calldata body
    ) external {
        require(!paused, "Pausable: paused");
        require(destinationDomain != localDomain, "Domain is local domain");
        require(body.length <= 8192, "Message body exceeds max size");
        require(recipient != bytes32(0), "Recipient must be nonzero");
        emit MessageSent(
            abi.encodePacked(
                uint32(1),
                localDomain,
                destinationDomain,
                bytes32(0),
                bytes32(uint256(uint160(msg.sender))),
                recipient,
                destinationCaller,
                minFinalityThreshold,
                uint32(0),
                body
            )
        );
    }

    function receiveMessage(bytes calldata message, bytes calldata attestation) external returns (bool) {
        require(!paused, "Pausable: paused");
        _verify(message, attestation);
        require(message.length >= 148, "Invalid message: too short");
        require(uint32(bytes4(message[8:12])) == localDomain, "Invalid destination domain");
        bytes32 caller = bytes32(message[108:140]);
        require(caller == bytes32(0) || caller == bytes32(uint256(uint160(msg.sender))), "Invalid caller for message");
        require(uint32(bytes4(message[0:4])) == 1, "Invalid message version");
        bytes32 nonce = bytes32(message[12:44]);
        require(usedNonces[nonce] == 0, "Nonce already used");
        usedNonces[nonce] = 1;
        _handle(message);
        emit MessageReceived(
            msg.sender,
            uint32(bytes4(message[4:8])),
            nonce,
            bytes32(message[44:76]),
            uint32(bytes4(message[144:148])),
            message[148:]
        );
        return true;
    }

    function _handle(bytes calldata message) private {
        uint32 executed = uint32(bytes4(message[144:148]));
        address recipient = address(uint160(uint256(bytes32(message[76:108]))));
        MessengerLike(recipient).handleReceivedMessage(
            uint32(bytes4(message[4:8])), bytes32(message[44:76]), executed, message[148:]
        );
    }

    function _verify(bytes calldata message, bytes calldata attestation) private view {
        require(attestation.length == 65 * signatureThreshold, "Invalid attestation length");
        bytes32 digest = keccak256(message);
        address latest;
        for (uint256 i; i < signatureThreshold; i++) {
            address signer = ECDSA.recover(digest, attestation[65 * i:65 * i + 65]);
            require(signer > latest, "Invalid signature order or dupe");
            require(isEnabledAttester[signer], "Invalid signature: not attester");
            latest = signer;
        }
    }
}

contract MessengerLike {
    event DepositForBurn(
        address indexed burnToken,
        uint256 amount,
        address indexed depositor,
        bytes32 mintRecipient,
        uint32 destinationDomain,
        bytes32 destinationTokenMessenger,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 indexed minFinalityThreshold,
        bytes hookData
    );
    event MintAndWithdraw(
        address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected
    );

    address public localMessageTransmitter;
    address public localMinter;
    address public feeRecipient;
    uint256 public minFee;
    mapping(uint32 => bytes32) public remoteTokenMessengers;
    mapping(address => bool) public isDenylisted;

    struct Burn {
        uint256 amount;
        uint32 domain;
        bytes32 recipient;
        address token;
        bytes32 caller;
        uint256 maxFee;
        uint32 threshold;
    }

    function setUp(address transmitter, address minter, address feeRecipient_) external {
        localMessageTransmitter = transmitter;
        localMinter = minter;
        feeRecipient = feeRecipient_;
    }

    function setRemote(uint32 domain, bytes32 messenger) external {
        remoteTokenMessengers[domain] = messenger;
    }

    function setDenylisted(address account, bool denied) external {
        isDenylisted[account] = denied;
    }

    /// In ten-millionths.
    function setMinFee(uint256 minFee_) external {
        minFee = minFee_;
    }

    function getMinFeeAmount(uint256 amount) public view returns (uint256 fee) {
        if (minFee == 0) return 0;
        require(amount > 1, "Amount too low");
        fee = (amount * minFee) / 10_000_000;
        if (fee == 0) fee = 1;
    }

    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external {
        _depositForBurn(
            Burn(amount, destinationDomain, mintRecipient, burnToken, destinationCaller, maxFee, minFinalityThreshold), ""
        );
    }

    function depositForBurnWithHook(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold,
        bytes calldata hookData
    ) external {
        _requireNotDenylisted();
        require(hookData.length > 0, "Hook data is empty");
        _depositForBurn(
            Burn(amount, destinationDomain, mintRecipient, burnToken, destinationCaller, maxFee, minFinalityThreshold),
            hookData
        );
    }

    function _requireNotDenylisted() private view {
        require(!isDenylisted[msg.sender] && !isDenylisted[tx.origin], "Denylistable: account is on denylist");
    }

    function _depositForBurn(Burn memory b, bytes memory hookData) private {
        _requireNotDenylisted();
        require(b.amount > 0, "Amount must be nonzero");
        require(b.recipient != bytes32(0), "Mint recipient must be nonzero");
        require(b.maxFee < b.amount, "Max fee must be less than amount");
        if (minFee > 0) require(b.maxFee >= getMinFeeAmount(b.amount), "Insufficient max fee");
        bytes32 remote = remoteTokenMessengers[b.domain];
        require(remote != bytes32(0), "No TokenMessenger for domain");
        require(localMinter != address(0), "Local minter is not set");
        require(BridgedToken(b.token).transferFrom(msg.sender, localMinter, b.amount), "Transfer operation failed");
        MinterLike(localMinter).burn(b.token, b.amount);
        bytes memory body = abi.encodePacked(
            uint32(1),
            bytes32(uint256(uint160(b.token))),
            b.recipient,
            b.amount,
            bytes32(uint256(uint160(msg.sender))),
            b.maxFee,
            uint256(0),
            uint256(0),
            hookData
        );
        TransmitterLike(localMessageTransmitter).sendMessage(b.domain, remote, b.caller, b.threshold, body);
        emit DepositForBurn(
            b.token, b.amount, msg.sender, b.recipient, b.domain, remote, b.caller, b.maxFee, b.threshold, hookData
        );
    }

    function handleReceivedMessage(uint32 domain, bytes32 sender, uint32 executed, bytes calldata body) external {
        require(msg.sender == localMessageTransmitter, "Invalid message transmitter");
        require(
            sender != bytes32(0) && remoteTokenMessengers[domain] == sender, "Remote TokenMessenger unsupported"
        );
        require(executed >= 500, "Unsupported finality threshold");
        require(body.length >= 228, "Invalid burn message: too short");
        require(uint32(bytes4(body[0:4])) == 1, "Invalid message body version");
        uint256 expiration = uint256(bytes32(body[196:228]));
        require(expiration == 0 || expiration > block.number, "Message expired and must be re-signed");
        uint256 amount = uint256(bytes32(body[68:100]));
        uint256 fee = uint256(bytes32(body[164:196]));
        require(fee == 0 || fee < amount, "Fee equals or exceeds amount");
        require(fee <= uint256(bytes32(body[132:164])), "Fee exceeds max fee");
        _mint(domain, bytes32(body[4:36]), address(uint160(uint256(bytes32(body[36:68])))), amount - fee, fee);
    }

    function _mint(uint32 domain, bytes32 burnToken, address to, uint256 amount, uint256 fee) private {
        address token = MinterLike(localMinter).mint(domain, burnToken, to, feeRecipient, amount, fee);
        emit MintAndWithdraw(to, amount, token, fee);
    }
}

/// Burns for somebody else, twice in one transaction where it is asked to.
contract BurnerLike {
    function burn(MessengerLike messenger, BridgedToken token, uint256 amount, uint32 domain, bytes32 to, uint256 times) external {
        token.transferFrom(msg.sender, address(this), amount * times);
        token.approve(address(messenger), amount * times);
        for (uint256 i; i < times; i++) {
            messenger.depositForBurn(amount, domain, to, address(token), bytes32(0), 0, 2000);
        }
    }
}
