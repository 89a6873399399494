"""Work for jobs under test; in a module of its own because another process imports it."""

import os
import time

RECORD = {
    "repetition": 0,
    "machine": "svc",
    "n_train": 10,
    "n_test": 5,
    "n_tested": 5,
    "accuracy": 0.9,
    "n_vectors": 4,
    "fit_seconds": 0.1,
    "predict_seconds": 0.1,
    "n_kernel_evals": 7,
    "model_bytes": 100,
    "mode": "fit",
    "error": None,
    "n_total": 3,
}


def work(task):
    """Do what the name of the study says: count, sleep, crash, or die."""
    name = task["spec"]["name"]
    for number in range(3):
        if name == "crash" and number == 1:
            raise RuntimeError("the job broke")
        if name == "die" and number == 1:
            os._exit(3)
        if name == "nan":
            yield {**RECORD, "accuracy": float("nan")}
            continue
        yield {**RECORD, "n_train": 10 * (number + 1)}
        if name == "steps":
            time.sleep(0.15)
    while name == "endless":
        time.sleep(0.01)


def steps_forever(task):
    """Send records until it is killed."""
    for number in range(10**6):
        yield {**RECORD, "n_train": number + 1}
        time.sleep(0.01)
