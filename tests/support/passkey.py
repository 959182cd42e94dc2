"""A passkey in software, for tests without a browser."""

import hashlib
import json
import os
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from webauthn.helpers import bytes_to_base64url

PRESENT_AND_VERIFIED, WITH_KEY = 0x05, 0x40  # flags of the authenticator data
COSE_KEY = {1: 2, 3: -7, -1: 1}  # type EC2, algorithm ES256, curve P-256; -2 and -3 are the coordinates


class Passkey:
    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._id = os.urandom(16)
        self.sign_count = 0

    def make(self, options: str, origin: str) -> str:
        """Answer the options for a new passkey."""
        asked = json.loads(options)
        point = self._key.public_key().public_numbers()
        key = COSE_KEY | {-2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")}
        credential = bytes(16) + len(self._id).to_bytes(2, "big") + self._id + cbor2.dumps(key)
        data = self._make_data(asked["rp"]["id"], PRESENT_AND_VERIFIED | WITH_KEY) + credential
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        client_data = self._make_client_data("webauthn.create", asked["challenge"], origin)
        return self._encode({"clientDataJSON": client_data, "attestationObject": attestation})

    def use(self, options: str, origin: str) -> str:
        """Answer the options for a check."""
        asked = json.loads(options)
        self.sign_count += 1
        data = self._make_data(asked["rpId"], PRESENT_AND_VERIFIED)
        client_data = self._make_client_data("webauthn.get", asked["challenge"], origin)
        signed = self._key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        return self._encode({"clientDataJSON": client_data, "authenticatorData": data, "signature": signed})

    def _make_data(self, rp_id: str, flags: int) -> bytes:
        return hashlib.sha256(rp_id.encode()).digest() + bytes([flags]) + self.sign_count.to_bytes(4, "big")

    @staticmethod
    def _make_client_data(kind: str, challenge: str, origin: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": origin}).encode()

    def _encode(self, response: dict[str, bytes]) -> str:
        own_id = bytes_to_base64url(self._id)
        named: dict[str, Any] = {name: bytes_to_base64url(value) for name, value in response.items()}
        return json.dumps({"id": own_id, "rawId": own_id, "type": "public-key", "response": named})
