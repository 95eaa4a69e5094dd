import gzip
import hashlib
import http.server
import subprocess
import sys
import threading

import pytest

from jali.core.errors import JaliError
from jali.data.adult import Adult
from jali.data.german import German
from jali.data.tables import files
from jali.data.tables.files import Remote

BODY = b"a,b\n1,2\n" * 30_000
SUM = hashlib.sha256(BODY).hexdigest()


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        getattr(self, self.path.strip("/").replace(".", "_"), self.missing)()

    def send(self, body, length):
        self.send_response(200)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def good_csv(self):
        self.send(BODY, len(BODY))

    def good_csv_gz(self):
        packed = gzip.compress(BODY, mtime=0)
        self.send(packed, len(packed))

    def broken_csv_gz(self):
        packed = gzip.compress(BODY, mtime=0)[:-20]
        self.send(packed, len(packed))

    def unsized_csv(self):
        self.send(BODY, None)

    def cut_csv(self):
        self.send(BODY[:1000], len(BODY))

    def elsewhere_csv(self):
        self.send_response(302)
        self.send_header("Location", "file:///etc/hostname")
        self.end_headers()

    def silent_csv(self):
        self.server.released.wait(5)

    def missing(self):
        self.send_error(404)

    def log_message(self, *args):
        pass


@pytest.fixture
def host(monkeypatch):
    pytest.importorskip("pooch", reason="the extra jali-audit[data] is not installed")
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("NO_PROXY", "*")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.released = threading.Event()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.released.set()
    server.shutdown()
    server.server_close()
    thread.join()


def quiet(done, total):
    pass


def left(folder):
    return [p for p in folder.rglob("*") if p.is_file()]


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("JALI_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "data"


def test_fetch_a_good_file(host, data):
    told = []
    remote = Remote("t/x.csv", SUM, f"{host}/good.csv")
    path = files.fetch(remote, data, lambda done, total: told.append((done, total)))
    assert path == data / "t" / "x.csv"
    assert left(data) == [path]
    assert files.read(remote) == BODY
    assert len(told) > 1
    assert told[-1] == (len(BODY), len(BODY))
    assert told == sorted(told)


def test_fetch_compressed_content_is_checked_uncompressed(host, data):
    remote = Remote("t/x.csv", SUM, f"{host}/good.csv.gz")
    assert files.fetch(remote, data, quiet) == data / "t" / "x.csv.gz"
    assert files.read(remote) == BODY


def test_fetch_without_a_declared_length(host, data):
    told = []
    files.fetch(Remote("t/x.csv", SUM, f"{host}/unsized.csv"), data, lambda *at: told.append(at))
    assert told[-1] == (len(BODY), 0)


def test_wrong_sum_leaves_nothing_behind(host, data):
    with pytest.raises(JaliError, match=f"{SUM}, not {'0' * 64}"):
        files.fetch(Remote("t/x.csv", "0" * 64, f"{host}/good.csv"), data, quiet)
    assert left(data) == []


@pytest.mark.parametrize("page", ["cut.csv", "nowhere.csv", "broken.csv.gz", "elsewhere.csv"])
def test_failure_keeps_an_earlier_file(host, data, page):
    for name in ("x.csv", "x.csv.gz"):
        (data / "t").mkdir(parents=True, exist_ok=True)
        (data / "t" / name).write_bytes(BODY)
    with pytest.raises(JaliError, match="Could not fetch"):
        files.fetch(Remote("t/x.csv", SUM, f"{host}/{page}"), data, quiet)
    assert sorted(p.name for p in left(data)) == ["x.csv", "x.csv.gz"]
    assert all(p.read_bytes() == BODY for p in left(data))


def test_wrong_sum_keeps_an_earlier_file(host, data):
    (data / "t").mkdir(parents=True)
    (data / "t" / "x.csv").write_text("earlier")
    with pytest.raises(JaliError, match="sha256"):
        files.fetch(Remote("t/x.csv", "0" * 64, f"{host}/good.csv"), data, quiet)
    assert [p.read_text() for p in left(data)] == ["earlier"]


def test_the_message_says_why(host, data):
    with pytest.raises(JaliError, match="the server answered 404"):
        files.fetch(Remote("t/x.csv", SUM, f"{host}/nowhere.csv"), data, quiet)
    with pytest.raises(JaliError, match=f"1000 bytes read, {len(BODY) - 1000} more expected"):
        files.fetch(Remote("t/x.csv", SUM, f"{host}/cut.csv"), data, quiet)


def test_without_pooch_the_extra_is_named_and_nothing_is_written(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(JaliError, match=r"pip install 'jali-audit\[data\]', or set JALI_DATA to .* holds t/x.csv"):
        files.fetch(Remote("t/x.csv", SUM, "https://host/x.csv"), data, quiet)
    assert not data.exists()


def test_no_network_library_is_imported_before_something_is_fetched():
    code = """
import sys, jali.api, jali.cli, jali.data.tables.catalogue
print(sorted({"pooch", "requests", "urllib3"} & set(sys.modules)))
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_nobody_listens(data, monkeypatch):
    pytest.importorskip("pooch", reason="the extra jali-audit[data] is not installed")
    monkeypatch.setenv("no_proxy", "*")
    with http.server.HTTPServer(("127.0.0.1", 0), Answers) as server:
        port = server.server_port
    with pytest.raises(JaliError, match=r"Could not fetch .*refused"):
        files.fetch(Remote("t/x.csv", SUM, f"http://127.0.0.1:{port}/good.csv"), data, quiet)


def test_a_silent_server_is_given_up(host, data, monkeypatch):
    monkeypatch.setattr(files, "TIMEOUT", 0.2)
    with pytest.raises(JaliError, match="timed out"):
        files.fetch(Remote("t/x.csv", SUM, f"{host}/silent.csv"), data, quiet)
    assert left(data) == []


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://host/x", "x.csv", ""])
def test_refuses_other_schemes(data, url):
    with pytest.raises(JaliError, match="no http address"):
        files.fetch(Remote("t/x.csv", SUM, url, how="ask"), data, quiet)
    assert not data.exists()


def test_folder_that_is_a_file(host, tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(JaliError, match="Could not fetch"):
        files.fetch(Remote("t/x.csv", SUM, f"{host}/good.csv"), tmp_path / "taken", quiet)


def test_folders_in_order(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("JALI_DATA", "/somewhere")
    assert [str(f) for f in files.folders()] == ["/somewhere", str(tmp_path / "jali" / "data")]
    monkeypatch.delenv("JALI_DATA")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert files.folders() == [tmp_path / ".cache" / "jali" / "data"]


def test_locate_in_the_cache_compressed(data, tmp_path):
    path = tmp_path / "cache" / "jali" / "data" / "t" / "x.csv.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress(BODY, mtime=0))
    assert files.locate(Remote("t/x.csv", SUM)) == path
    assert files.read(Remote("t/x.csv", SUM)) == BODY


def test_locate_says_what_to_do(data):
    with pytest.raises(JaliError, match="run `jali data fetch t`, or set JALI_DATA"):
        files.locate(Remote("t/x.csv", SUM, "https://host/x.csv"))
    with pytest.raises(JaliError, match=r"ask the owner, save it as t/x.csv .* set JALI_DATA"):
        files.locate(Remote("t/x.csv", SUM, how="ask the owner"))


@pytest.mark.parametrize(("content", "why"), [(b"other", "sha256"), (gzip.compress(BODY, mtime=0)[:-9], "Cannot read")])
def test_read_refuses_another_content(data, content, why):
    (data / "t").mkdir(parents=True)
    (data / "t" / "x.csv").write_bytes(content)
    with pytest.raises(JaliError, match=why):
        files.read(Remote("t/x.csv", SUM, "https://host/x.csv"))


@pytest.mark.parametrize("source", [Adult(), German()], ids=["adult", "german"])
def test_embedded_data_need_no_folder_of_yours(source, tmp_path, monkeypatch):
    monkeypatch.setenv("JALI_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for remote in source.files:
        assert files.find(remote) == files.EMBEDDED / f"{remote.path}.xz"
        assert hashlib.sha256(files.read(remote)).hexdigest() == remote.sha256
    named = (files.EMBEDDED / "SOURCES.md").read_text(encoding="utf-8")
    assert all(f"`{remote.path}.xz`" in named for remote in source.files)
    assert source.licence in named


def test_every_embedded_file_has_its_source_and_licence_named():
    named = (files.EMBEDDED / "SOURCES.md").read_text(encoding="utf-8")
    embedded = [path for path in files.EMBEDDED.rglob("*.*") if path.name != "SOURCES.md"]
    assert embedded
    assert all(f"`{path.relative_to(files.EMBEDDED)}`" in named for path in embedded)
    assert sum(path.stat().st_size for path in embedded) < 500_000


def test_a_damaged_copy_is_refused_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("JALI_DATA", str(tmp_path))
    (tmp_path / "german").mkdir()
    (tmp_path / "german" / "german.data.xz").write_bytes(b"\xfd7zXZ\x00 and no more")
    with pytest.raises(JaliError, match=r"Cannot read .*german\.data\.xz"):
        files.read(German().files[0])
