"""The alert rules in deploy/: promtool tests that each fires when it should, with series that we expose."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.long_only

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy" / "prometheus-rules.yml"
ALERTS = re.findall(r"- alert: (\w+)", RULES.read_text(encoding="utf-8"))
UP = 'up{job="gamekeeper"}'
FINE = {
    UP: "1x600",
    "gamekeeper_database_up": "1x600",
    'gamekeeper_requests_total{status="200"}': "0+900x600",
    'gamekeeper_requests_total{status="501"}': "0+1x600",  # an act of the engine that no version implements
    'gamekeeper_pool{state="waiting"}': "0x600",
    'gamekeeper_synchronous_standbys{state="present"}': "1x600",
    'gamekeeper_synchronous_standbys{state="expected"}': "1x600",
    'gamekeeper_outbox{state="waiting"}': "3x600",
    'gamekeeper_outbox{state="failed"}': "0x600",
    'gamekeeper_deliveries{state="overdue"}': "0x600",
    'gamekeeper_signals_open{rule="gain"}': "0x600",
    "gamekeeper_process_open_files": "90x600",
    "gamekeeper_process_resident_bytes": "90000000x600",
}


@pytest.fixture
def promtool() -> str:
    found = shutil.which("promtool") or shutil.which("promtool", path=str(Path(sys.executable).parent))
    if not found:
        pytest.skip("There is no promtool here: run `make promtool`, or install Debian's package prometheus.")
    return found


def fires(promtool: str, folder: Path, series: Mapping[str, str]) -> set[str]:
    """Return the alerts that fire after ten hours of these series, with one sample per minute."""
    expected = [{"eval_time": "10h", "alertname": alert, "exp_alerts": list[str]()} for alert in ALERTS]
    given = [{"series": name, "values": values} for name, values in series.items()]
    tests = [{"interval": "1m", "input_series": given, "alert_rule_test": expected}]
    file = folder / "test.yml"
    file.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "5m", "tests": tests}))
    done = subprocess.run([promtool, "test", "rules", str(file)], check=False, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert "FAILED" in said or not done.returncode, said
    return {*re.findall(r"alertname:\s*(\w+)", said)}


def test_healthy_instance_raises_no_alert(promtool: str, tmp_path: Path) -> None:
    assert fires(promtool, tmp_path, FINE) == set()


@pytest.mark.parametrize(
    ("alert", "name", "values"),
    [
        ("GamekeeperDown", UP, "1x590 0x9"),
        ("GamekeeperDown", "gamekeeper_database_up", "1x590 0x9"),
        ("GamekeeperServerErrors", 'gamekeeper_requests_total{status="503"}', "0+1x600"),
        ("GamekeeperDatabaseSaturated", 'gamekeeper_pool{state="waiting"}', "1x600"),
        ("GamekeeperDatabaseSaturated", "gamekeeper_writer_queue", "101x600"),
        ("GamekeeperTooFewStandbys", 'gamekeeper_synchronous_standbys{state="present"}', "0x600"),
        ("GamekeeperMailStuck", 'gamekeeper_outbox{state="waiting"}', "51x600"),
        ("GamekeeperMailRejected", 'gamekeeper_outbox{state="failed"}', "1x600"),
        ("GamekeeperCommandsOverdue", 'gamekeeper_deliveries{state="overdue"}', "1x600"),
        ("GamekeeperSignal", 'gamekeeper_signals_open{rule="gain"}', "1x600"),
        ("GamekeeperLeak", "gamekeeper_process_open_files", "90+1x600"),
        ("GamekeeperLeak", "gamekeeper_process_resident_bytes", "90000000+1000000x600"),
    ],
)
def test_alert_fires(promtool: str, tmp_path: Path, alert: str, name: str, values: str) -> None:
    assert fires(promtool, tmp_path, FINE | {name: values}) == {alert}
