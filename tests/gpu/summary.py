"""Says what passed, failed and was skipped, by name, from what run.sh left; 1 if anything failed."""

import json
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

MOST_LISTED = 30
Outcome = tuple[str, str, str]  # "passed", "failed" or "skipped"; the test's name; why


def of_googletest(file: Path) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for suite in json.loads(file.read_text())["testsuites"]:
        for test in suite["testsuite"]:
            name = f"{test['classname']}.{test['name']}"
            if test.get("failures"):
                outcomes.append(("failed", name, test["failures"][0]["failure"].strip()))
            elif test["result"] == "SKIPPED":
                skipped = test.get("skipped") or [{"message": ""}]
                outcomes.append(("skipped", name, skipped[0]["message"].strip()))
            elif test["result"] == "COMPLETED":
                outcomes.append(("passed", name, ""))
    return outcomes


def of_pytest(file: Path) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for case in ElementTree.parse(file).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        trouble = {child.tag: child.get("message", "") for child in case}
        if "failure" in trouble or "error" in trouble:
            outcomes.append(("failed", name, trouble.get("failure", trouble.get("error", ""))))
        elif "skipped" in trouble:
            outcomes.append(("skipped", name, trouble["skipped"]))
        else:
            outcomes.append(("passed", name, ""))
    return outcomes


def one_line(text: str) -> str:
    return " ".join(text.split())[:240]


def main() -> None:
    folder = Path(sys.argv[1])
    failures = 0
    print("Summary")
    for line in (folder / "steps.tsv").read_text().splitlines():
        status, name, detail = line.split("\t")
        failures += status == "failed"
        outcomes: list[Outcome] = []
        for suffix, reader in ((".gtest.json", of_googletest), (".junit.xml", of_pytest)):
            if (folder / (name + suffix)).exists():
                outcomes = reader(folder / (name + suffix))
        counts = Counter(outcome[0] for outcome in outcomes)
        told = ", ".join(f"{counts[key]} {key}" for key in ("passed", "failed", "skipped") if counts[key])
        print(f"{status:8}{name}: {told or detail + ('' if status == 'skipped' else ' s')}")
        others = [outcome for outcome in outcomes if outcome[0] != "passed"]
        for outcome, test, why in others[:MOST_LISTED]:
            print(f"        {outcome} {test}: {one_line(why)}")
        if len(others) > MOST_LISTED:
            print(f"        and {len(others) - MOST_LISTED} more")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
