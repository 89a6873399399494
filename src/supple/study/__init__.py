"""A study as data: machines, protocol and results."""

from supple.study._bayes import PairVerdict, compare_machines, correlated_t_test
from supple.study._data import GENERATORS, Data, data_of, load
from supple.study._html import to_html
from supple.study._machines import MACHINES, STUDY_MACHINES, Machine
from supple.study._parameters import Parameter
from supple.study._report import results, to_csv, to_json, to_png, to_script, to_text
from supple.study._run import StudyRecord, execute
from supple.study._spec import DataSpec, MachineSpec, StudySpec, parse_machine
from supple.study._summary import CurvePoint, MachineSummary, learning_curves, summarise
from supple.study._table import Column, Table, read_table

__all__ = [
    "GENERATORS",
    "MACHINES",
    "STUDY_MACHINES",
    "Column",
    "CurvePoint",
    "Data",
    "DataSpec",
    "Machine",
    "MachineSpec",
    "MachineSummary",
    "PairVerdict",
    "Parameter",
    "StudyRecord",
    "StudySpec",
    "Table",
    "compare_machines",
    "correlated_t_test",
    "data_of",
    "execute",
    "learning_curves",
    "load",
    "parse_machine",
    "read_table",
    "results",
    "summarise",
    "to_csv",
    "to_html",
    "to_json",
    "to_png",
    "to_script",
    "to_text",
]
