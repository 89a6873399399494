"""What the workbench refuses."""

from pathlib import Path

import httpx
import pytest
from live_server import PATIENCE, live_server

from supple.errors import InvalidInputError
from supple.workbench import Settings

CSP = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)


@pytest.mark.parametrize("path", ["/", "/api/runs", "/static/app.js", "/nowhere"])
def test_every_answer_says_what_the_page_may_load(client, path):
    headers = client.get(path).headers
    assert headers["content-security-policy"] == CSP
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_another_host_is_refused(client, host):
    assert client.get("/api/runs", headers={"Host": host}).status_code in (400, 421)


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost:8642", "[::1]:8642"])
def test_this_machine_is_served(client, host):
    assert client.get("/api/runs", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},  # another port is another site
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_pages_of_other_sites_change_nothing(client, headers):
    for call in (client.post, client.delete, client.patch):
        assert call("/api/runs/x", headers=headers).status_code == 403
    assert client.get("/api/runs", headers=headers).status_code == 403
    own = {"Origin": str(client.base_url).rstrip("/")}
    assert client.delete("/api/runs/x", headers=own).status_code == 404


def test_get_changes_nothing(client, drive):
    begin, wait_for = drive
    run_id = begin(client)
    wait_for(client, run_id, "finished")
    for order in ("pause", "resume", "cancel", "restart"):
        assert client.get(f"/api/runs/{run_id}/{order}").status_code in (404, 405)
    assert client.get("/api/runs/import").status_code == 404
    assert client.get("/api/data/upload").status_code in (404, 405)
    assert client.get(f"/api/runs/{run_id}").json()["state"] == "finished"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/..%2fserver.py",
        "/static//etc/passwd",
        "/api/data/..%2f..%2fetc%2fpasswd/file",
        "/api/runs/..%2f..%2fhistory.sqlite",
    ],
)
def test_no_path_leads_out(client, path):
    answer = client.get(path)
    assert answer.status_code in (404, 405), answer.text
    assert "root:" not in answer.text
    assert "import" not in answer.text


def test_a_name_is_a_label_and_never_a_path(client, settings):
    answer = client.post(
        "/api/data/upload", params={"name": "..\\../etc/<i>x.csv"}, content=b"a,b\n1,x\n2,y\n"
    )
    assert answer.json()["name"] == "<i>x.csv"  # the page shows it as text
    assert sorted(path.name for path in settings.folder.iterdir()) == [
        "history.sqlite",
        "history.sqlite-shm",
        "history.sqlite-wal",
    ]


def test_uploads_have_limits(open_client):
    client = open_client(max_bytes=1000, max_rows=5)
    body = b"a,b\n" + b"1,x\n2,y\n" * 3
    too_long = client.post("/api/data/upload", content=body)
    assert too_long.status_code == 422
    assert "6 rows" in too_long.json()["detail"]
    too_large = client.post("/api/data/upload", content=b"x" * 1001)
    assert too_large.status_code == 413
    stream = client.post("/api/data/upload", content=(b"x" * 400 for _ in range(4)))
    assert stream.status_code == 413
    assert client.get("/api/data").json()["uploads"] == []


def test_elsewhere_a_token_is_needed(tmp_path):
    with pytest.raises(InvalidInputError, match="'token' parameter of Settings"):
        Settings(folder=tmp_path, host="0.0.0.0")
    settings = Settings.for_host("0.0.0.0", folder=tmp_path)
    assert settings.token in settings.url
    with (
        live_server(settings) as (_, url),
        httpx.Client(base_url=url, timeout=PATIENCE) as client,
    ):
        for path in ("/", "/static/app.js", "/api/runs", "/?token=wrong"):
            assert client.get(path).status_code == 401
        assert client.get("/api/runs", headers={"Cookie": "supple-token=wrong"}).status_code == 401
        welcome = client.get(f"/?token={settings.token}")
        assert (welcome.status_code, welcome.headers["location"]) == (303, "/")
        cookie = welcome.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert client.get("/api/runs").status_code == 200  # by the cookie
        bearer = {"Authorization": f"Bearer {settings.token}"}
        direct = httpx.get(f"{url}/api/runs", headers=bearer, timeout=PATIENCE)
        assert direct.status_code == 200
        rebound = client.get("/api/runs", headers={"Host": "evil.example"})
        assert rebound.status_code == 421


def test_a_host_of_its_own_is_not_every_host(tmp_path):
    settings = Settings.for_host("192.0.2.7", folder=tmp_path)
    assert settings.serves("192.0.2.7")
    assert not settings.serves("192.0.2.8")
    assert Settings.for_host("::", folder=tmp_path).serves("2001:db8::1")


def test_no_dangerous_call_in_the_sources():
    package = Path(__file__).parents[3] / "src" / "supple" / "workbench"
    for path in package.glob("*.py"):
        text = path.read_text()
        for word in ("pickle.load", "eval(", "exec(", "yaml.load", "shell=True"):
            assert word not in text, (path.name, word)
    for path in (package / "static").glob("*.js"):
        text = path.read_text()
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "document.write"):
            assert word not in text, (path.name, word)
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", ""), path.name
        assert "https://" not in text, path.name
