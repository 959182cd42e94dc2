import shutil

import pytest

from smtp_sink import Certificate, make_certificate


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl to make a certificate with")
    return make_certificate(tmp_path_factory.mktemp("tls"))
