"""jobs convert, rule by rule and row by row: sources that break one rule, and what the mapping makes of good ones."""
import copy
import hashlib
import json
import os

import harness
from harness import JOB, Case, run

GIVEN = ("--job", JOB, "--requested-outcome", "Do the work.")
HEX = "a" * 64
SHA = "sha256:" + HEX
SAMPLES = os.path.join(os.path.dirname(__file__), "../../docs/protocol/vectors/convert")


def bubbles(**more):
    return {"agent": "bubbles.a", "outcome": "completed_owned", "summary": "Done.", **more}


def outcome(**more):
    return {"contract": "agentic-workflow/skill-outcome", "version": 1, "skill": "s", "status": "completed",
            "summary": "S.", "next": {"intent": "none", "targets": []}, "blockers": [], "questions": [],
            "discoveries": [], "evidence_refs": [], **more}


def put(source, places):
    for place, value in places.items():
        *way, name = place.split("/")
        at = source
        for step in way:
            at = at[step]
        if value is None:
            at.pop(name, None)
        else:
            at[name] = value
    return source


def from_sample(name):
    with open(os.path.join(SAMPLES, name), encoding="utf-8") as file:
        text = file.read()
    return json.JSONDecoder().raw_decode(text[text.index("{"):])[0]


def envelope(**more):
    source = from_sample("aw-envelope-a1-ready-for-review.md")
    source.update(state="OK", blockers=[], needs_input=None)
    source["findings"] = {"fix_now": [], "issues_filed": [], "untriaged": 0, "decisions_recorded": 0}
    source["gates"] = {"verification": "green", "review_pending": False, "audit_pending": False}
    source["pr"] = {"number": 1, "url": "https://example.org/o/r/pull/1", "state": "open", "head_sha": "a" * 40,
                    "merge_ready": True, "ci": "green"}
    return put(source, {k.replace("__", "/"): v for k, v in more.items()})


def manifest(**more):
    return put(from_sample("sublation-manifest-a3-closed.json"), {k.replace("__", "/"): v for k, v in more.items()})


def report(state, items, **more):
    source = {"schema_version": 1, "run_id": "r", "report_version": 1, "scope_revision": 1, "generated_at": "2026",
              "state": state, "items": items, "approval_items": [], "approval_code": "SR-3BA0DEA8", **more}
    body = json.dumps(source, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return {**source, "report_hash": "sha256:" + hashlib.sha256(body).hexdigest(), "delivery": [{"a": 1.5}]}


def item(name, status, **more):
    return {"item_id": name, "status": status, "summary": "s " + name, "disposition": "d", **more}


FINDING = {"id": "F", "severity": "warn", "summary": "s"}
OBSERVATION = {"id": "OB", "severity": "low", "summary": "s"}
BLOCKER = {"kind": "gate", "id": "g", "scope": "unit", "detail": "d"}
FIX = {"id": "f", "file": "a.c", "axis": "x", "severity": "med", "class": "c", "route": "r", "suggested_tier": "cheap"}
DISCOVERY = {"kind": "risk", "scope": "run", "summary": "ds", "evidence_refs": [], "proposed_intent": "none"}
RESOLUTION = {"sessionId": "s", "decisionId": "d", "controlRevision": 1, "controlPathDigest": "x",
              "authority": "explicit-repository-root", "transition": "established", "scopeKind": "command",
              "scopeId": None, "targetKind": "repository-root", "pathVisibility": "redacted", "actionable": False}


def fence(source, info="json", mark="```"):
    return f"{mark}{info}\n{json.dumps(source)}\n{mark}\n"


def bound(**more):
    return bubbles(repositoryRoot="<redacted-local-root>", repositoryAlias="al",
                   repositoryResolution={**RESOLUTION, **more})


class Rules(Case):
    def convert(self, source, *options):
        text = source if isinstance(source, str) else json.dumps(source, ensure_ascii=False)
        return run("convert", *GIVEN, *options, stdin=text.encode())

    def good(self, source, *options):
        done = self.convert(source, *options)
        self.assertEqual(done.status, 0, done)
        return done.line

    def refused(self, rule, source, *options):
        done = self.convert(source, *options)
        self.assertEqual((done.status, done.out), (1, b""), done)
        self.assertEqual({v["rule"] for v in done.failure["violations"]}, {rule}, done)

    def test_bubbles_contract_holds_at_both_levels(self):
        routed = {"outcome": "route_required", "nextOwner": "x"}
        for rule, source in (
                ("B202", bubbles(outcome="route_required")),
                ("B202", bubbles(outcome="route_required", nextOwner="none")),
                ("B202", bubbles(outcome="route_required", nextRequiredOwner="bubbles.workflow")),
                ("B203", bubbles(outcome="blocked", blocker={"reason": " "})),
                ("B204", bubbles(unresolvedFindings=["F"])),
                ("B205", bubbles(findings=[FINDING])),
                ("B205", bubbles(**routed, addressedFindings=["F"], unresolvedFindings=["F"])),
                ("B205", bubbles(observations=[OBSERVATION], addressedFindings=["OB"])),
                ("B206", bubbles(findings=[FINDING, FINDING], addressedFindings=["F"])),
                ("B207", bubbles(findings=[{**FINDING, "goalImpact": "blocking-external"}], addressedFindings=["F"])),
                ("B208", bubbles(findings=[{**FINDING, "goalImpact": "independent"}], addressedFindings=["F"])),
                ("B208", bubbles(**routed, findings=[{**FINDING, "disposition": "routed"}], unresolvedFindings=["F"])),
                ("B209", bubbles(outcome="blocked", reason="r", observations=[OBSERVATION])),
                ("B210", bubbles(learning={"disposition": "deferred", "reason": "é" * 19})),
                ("B210", bubbles(learning={"disposition": "captured"})),
                ("B211", bubbles(evidenceRefs=["recall-" + HEX])),
                ("B214", bound(actionable=True)),
                ("B101", put(bound(), {"repositoryResolution/sessionId": None})),
                ("B212", put(bound(), {"repositoryAlias": None})),
                ("B105", bubbles(agent="bubbles.A")), ("B201", bubbles(outcome="done_with_concerns"))):
            with self.subTest(rule, source=source):
                self.refused(rule, source)
                self.refused(rule, source, "--level", "schema")

    def test_repository_binding(self):
        fits = [("explicit-repository-root", t, "repository-root") for t in ("established", "confirmed", "switched")]
        fits += [("concrete-target", "confirmed", "absolute-target"), ("concrete-target", "switched", "relative-target"),
                 ("resolved-natural-language", "established", "natural-language"),
                 ("durable-work-boundary", "continued", "inherited-boundary"),
                 ("single-eligible-repository", "established", "sole-eligible-repository"),
                 ("scoped-scenario-node", "scoped-override", "goal-node")]
        misses = [("explicit-repository-root", "continued", "repository-root"),
                  ("concrete-target", "established", "repository-root"),
                  ("durable-work-boundary", "established", "inherited-boundary"),
                  ("single-eligible-repository", "confirmed", "sole-eligible-repository"),
                  ("scoped-scenario-node", "established", "goal-node"), ("x", "established", "repository-root")]
        for authority, transition, target in fits + misses:
            source = bound(authority=authority, transition=transition, targetKind=target)
            with self.subTest(authority, transition=transition):
                if (authority, transition, target) in fits:
                    self.good(source)
                else:
                    self.refused("B213", source)

    def test_bubbles_mapping(self):
        self.assertEqual(self.good(bubbles())["disposition"], "no_artifact")
        self.assertEqual(self.good(bubbles(nextRequiredOwner="None"))["disposition"], "no_artifact")
        for item, name in (("A: b", "A: b"), ("F: text", "F"), ("F", "F")):
            made = self.good(bubbles(findings=[{"id": name, "summary": "s"}], addressedFindings=[item]))
            self.assertEqual([(f["id"], f["summary"]) for f in made["findings"]], [(name, "s")])
        self.assertEqual(self.good({"agent": "bubbles.a", "outcome": "completed_owned"})["outcome"], "completed_owned")
        self.assertEqual(self.good(bubbles(artifactsCreated=["a/b.c"]))["disposition"], "completed")
        routed = self.good(bubbles(outcome="route_required", nextOwner="x"))
        self.assertEqual((routed["disposition"], routed["blocker"]), ("blocked", "routed to x: Done."))
        made = self.good(bubbles(outcome="completed_diagnostic", artifactsCreated=["a/b"], toolCalls=["s"],
                                 evidenceRefs=["https://example.org/pull/3", "a" * 40, "r.md"]))
        self.assertNotIn("artifacts", made)
        self.assertEqual([c["status"] for c in made["verification"]], ["not_run"] * 5)
        kinds = self.good(bubbles(evidenceRefs=["A" * 40, HEX, "https://example.org/pull/12/files",
                                                "https://example.org/o/r/pull/12"]))["artifacts"]
        self.assertEqual([a["kind"] for a in kinds], ["commit", "commit", "link", "pull_request"])
        empty = {name: None for name in ("blocker", "learning", "findings", "evidenceRefs", "repositoryRoot",
                                         "repositoryAlias", "repositoryResolution", "nextOwner")}
        self.good(bubbles(**empty, unknown={"a": [1]}))

    def test_text_forms(self):
        head = "# RESULT-ENVELOPE\n"
        plain = head + "agent: bubbles.a\noutcome: completed_owned\naddressedFindings:\n- F-1: a: b\n- F-2\nreason: r\n"
        for text in (plain, plain.replace("\n", "\r\n"), plain.replace(": ", ":\t", 2)):
            found = self.good(text)["findings"]
            self.assertEqual([(f["id"], f["summary"]) for f in found], [("F-1", "a: b"), ("F-2", "F-2")])
        self.refused("X103", plain + "\n" + plain)
        self.refused("X105", plain + "Thanks.\n")
        one = json.dumps(bubbles())
        for text in (head + "\n" + fence(bubbles(), "json5"), fence(bubbles(), "json  result-envelope"),
                     fence(bubbles(), mark="~~~"), f"- item\n\n    ```json\n    {one}\n    ```\n",
                     f"1. ```json\n   {one}\n   ```\n", "{note} see\n" + fence(bubbles()),
                     "`<!--` is a mark\n" + fence(bubbles()) + "-->\n"):
            with self.subTest(text):
                self.assertEqual(self.good(text)["outcome"], "Done.")
        self.refused("X110", plain.replace("\n", "\r\n"), "--keep-original")
        self.assertEqual(self.good(fence(bubbles()) * 99 + fence(bubbles(summary="Last.")), "--index", "100")["outcome"],
                         "Last.")
        self.refused("X103", fence(bubbles()) + f"- item\n\n    ```json\n    {one}\n    ```\n")
        yaml = head + "```yaml\nagent: bubbles.a\noutcome: completed_owned\nsummary: %s\n```\n"
        for scalar in ("yes", "2026-01-01", "1.5", "'it''s' # c"):
            self.good(yaml % scalar)
        for scalar in ("|\n  x", "&x y", "!!str y", "15", "x\nagent: b", "x\n---\na: b"):
            self.assertEqual(self.convert(yaml % scalar).status, 1, scalar)

    def test_a_cut_result_is_asked_for_again(self):
        done = self.convert('```json\n{"contract":"agentic-workflow/skill-outcome","vers', "--reask")
        self.assertEqual(done.status, 1)
        self.assertIn(b"agentic-workflow/skill-outcome", done.out)

    def test_skill_outcome(self):
        ask = {"id": "q", "question": "Q?", "options": ["a"]}
        for rule, source in (("O201", outcome(status="blocked")), ("O202", outcome(status="needs-input")),
                             ("O203", outcome(status="failed", summary=" ")), ("O204", outcome(blockers=[BLOCKER])),
                             ("O204", outcome(questions=[ask])), ("O103", outcome(version=1.0))):
            with self.subTest(rule):
                self.refused(rule, source)
                self.assertEqual("blocker" in self.good(source, "--level", "schema"), source["status"] != "completed")
        for source in (outcome(evidence_refs=[""]), outcome(discoveries=[{**DISCOVERY, "summary": ""}]),
                       outcome(status="needs-input", questions=[{"id": "", "question": "Q?", "options": [""]}])):
            self.good(source)
        made = self.good(outcome(discoveries=[DISCOVERY, {**DISCOVERY, "proposed_intent": "loop-review-fold"}]))
        self.assertEqual([f["id"] for f in made["findings"]], ["D1", "D2"])
        self.assertEqual(made["source"]["repairs"], ["legacy-intent"])
        made = self.good(outcome(evidence_refs=["a/b.md", "a/b@c", "ran 12/12 tests", "a" * 40]))
        self.assertEqual([a["kind"] for a in made["artifacts"]], ["file", "commit"])

    def test_workflow_envelope(self):
        for state in ("OK", "MERGE_READY", "MERGED"):
            good = {"state": state, "pr__state": "merged" if state == "MERGED" else "open"}
            self.assertEqual(self.good(envelope(**good))["disposition"], "completed")
            for bad in ({"gates__verification": "red"}, {"pr__ci": "red"}, {"blockers": [BLOCKER]},
                        {"findings__fix_now": [FIX]}):
                self.refused("E206", envelope(**good, **bad))
                self.assertNotIn("blocker", self.good(envelope(**good, **bad), "--level", "schema"))
        for bad in ({"pr__merge_ready": False}, {"gates__review_pending": True}, {"gates__audit_pending": True},
                    {"pr__ci": "pending"}, {"pr__head_sha": " "}):
            self.refused("E207", envelope(state="MERGE_READY", **bad))
        self.refused("E208", envelope(state="MERGED"))
        self.refused("E201", envelope(state="BLOCKED"))
        self.refused("E202", envelope(state="NEEDS_INPUT"))
        self.refused("E204", envelope(state="NEEDS_FIXES"))
        self.refused("E205", envelope(state="HALT", blockers=[BLOCKER]))
        self.refused("E103", envelope(phase__total=4.0))
        self.good(envelope(phase__total=4.0), "--level", "schema")
        self.refused("E103", envelope(phase__total=4.5), "--level", "schema")
        nothing = {"pr__url": "", "pr__head_sha": "", "unit__branch": "feat/x", "findings__issues_filed": [7]}
        self.assertNotIn("artifacts", self.good(envelope(**nothing)))
        made = self.good(envelope(state="CONTINUE", **nothing))["artifacts"]
        self.assertEqual([(a["kind"], a["reference"]) for a in made], [("branch", "feat/x"), ("other", "#7")])
        made = self.good(envelope(next__recommended="/srv/q7z/x", next__alternatives=["/own-skill 4", "/srv/q7z"]))
        self.assertEqual(made["next"], {"intent": "<redacted>", "text": "Alternatives: own-skill 4, <redacted>",
                                        "targets": ["43-null-crash"]})
        self.assertIn("abc1234", self.good(envelope(pr__head_sha="abc1234", pr__url=""))["outcome"])

    def test_sublation_manifest(self):
        delta, again = "validation__value_delta", "validation__independent_reproduction"
        for rule, places in (
                ("M203", {"validation__cross_reviewed_by": "none"}), ("M204", {"validation__auditor_status": "failed"}),
                ("M205", {"validation__pre_promotion_reports": []}), ("M206", {delta: None}),
                ("M207", {again: None}), ("M208", {"validation__promoted_by": None}),
                ("M208", {"validation__promotion_mode": "none"}), ("M212", {again + "__performed_by": ["codex"]}),
                ("M212", {again + "__evidence": []}), ("M213", {delta + "__fallback_or_rollback": None}),
                ("M214", {delta + "__capability_reduction": "less"}), ("M201", {"created_at": "2026-02-30"}),
                ("M201", {"created_at": None}), ("M202", {"candidate__tree_hash": "sha256:aa"})):
            with self.subTest(rule, places=places):
                self.refused(rule, manifest(**places))
                loose = self.convert(manifest(**places), "--level", "schema")
                self.assertEqual(loose.status, 0 if rule in ("M201", "M202") else 1, loose)
        self.assertEqual(self.good(manifest())["disposition"], "completed")
        for time in ("2026-08-01", "20260801T0900", "2026-08-01 09:00:00.5+0800", "2026-08-01T09:00:00-08", "2024-02-29"):
            self.good(manifest(created_at=time))
        for time in ("2026-8-1", "2026-0801", "2026-08-01T", "2026-08-01T24:00", "2026-08-01T09:00:00.Z", "2026-08-01Z",
                     "2026-08-01T09:00Zx", "2026-02-29", "20260801T0900+1"):
            self.refused("M201", manifest(created_at=time))
        roles = {"mode": "single_agent_user_authorized", "required_roles": ["implementation", "risk"],
                 "policy_authorized_by": "user", "authorization_message_id": "m"}
        approved = [{"reviewer": "codex", "status": "approve", "role": "risk"}]
        for places, pointers in (({"candidate__files": {"a/b": HEX, "~": None, "c": SHA}},
                                  ["/candidate/files/a~1b", "/candidate/files/~0"]),
                                 ({"validation__review_policy": roles, "validation__pre_promotion_reports": approved},
                                  ["/validation/review_policy/required_roles/0"])):
            self.assertEqual([v["pointer"] for v in self.convert(manifest(**places)).failure["violations"]], pointers)
        made = self.good(manifest(validation__scorecard={"status": "failed"}))["verification"]
        self.assertEqual([c["status"] for c in made if c["label"] == "scorecard"], ["failed"])

    def test_sublation_report(self):
        waiting, blocked, other = item("A1", "APPROVAL_READY"), item("B1", "BLOCKED"), item("N1", "NO_CHANGE")
        sets = {"PARTIAL": [waiting, blocked], "USER_DECISION_REQUIRED": [waiting, other], "BLOCKED": [blocked],
                "CLOSED": [other]}
        for state, items in sets.items():
            made = self.good(report(state, items))
            self.assertEqual(len(made["findings"]), len(items))
            self.assertNotIn("SR-", json.dumps(made))
            for wrong in sets.keys() - {state}:
                self.refused("R202", report(wrong, items))
        for note in ("éß日本😀\u007f\u2028", "\b\f\n\r\t\x01\x1f\"\\/", {"z": 1, "é": {"b": [], "a": {}}, "": None},
                     [2**63 - 1, -2**63, 2**63, -10**30, 0], {"😀": 1, "\uffff": 2, "\ue000": 3}):
            source = report("CLOSED", [other], note=note)
            self.good(json.dumps(source))
            self.good(json.dumps(source, ensure_ascii=False, indent=1))
            tampered = copy.deepcopy(source)
            tampered["items"][0]["summary"] = "x"
            self.refused("R201", tampered)
        self.refused("R201", report("CLOSED", [other], note=1.5))
        short = [item("A1", "APPROVAL_READY", patch_path="/c/P", patch_hash="x", evidence=[{"path": "e", "sha256": ""}])]
        self.refused("R103", report("USER_DECISION_REQUIRED", short))
        self.good(report("USER_DECISION_REQUIRED", short), "--level", "schema")

    def test_evidence_below_the_root(self):
        os.makedirs(self.path("c1/sub"))
        for name in ("c1/e", "base"):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("hello")
        os.symlink("e", self.path("c1/link"))
        digest = hashlib.sha256(b"hello").hexdigest()
        evidence = [{"path": path, "sha256": "sha256:" + digest}
                    for path in ("/c/e", "/other/base", "/c/link", "/c/none", "/c/sub/")]
        source = report("USER_DECISION_REQUIRED", [
            item("A1", "APPROVAL_READY", candidate_id="c1", candidate_path="/c/", candidate_tree_hash=SHA,
                 evidence=evidence + [{"path": "/c/e", "sha256": digest}, {"path": "/c/e"}])])
        made = self.good(source, "--evidence-root", self.folder)
        self.assertEqual([c["status"] for c in made["verification"]],
                         ["passed", "passed", "failed", "failed", "failed", "passed", "not_run"])
        self.assertEqual(made["artifacts"][0]["reference"], "c1")
        self.assertEqual(made["source"]["repairs"], ["path-relative"])

    def test_local_things_in_every_spelling(self):
        secret = "q7z"
        for text in ("**/srv/q7z**", "“/srv/q7z”", "→/srv/q7z", "-I/usr/q7z", "//srv/q7z", "line\n/srv/q7z", "“../q7z”",
                     "#!/usr/bin/q7z", "host:/srv/q7z", "FILE:/q7z", "(~/q7z)", "mac=q7zq7z", "c:/q7z"):
            spelled = json.dumps(bubbles(summary="see " + text), ensure_ascii=True)
            for source in (spelled, spelled.replace("/", "\\/"), f"See {text}\n" + fence(bubbles())):
                with self.subTest(source):
                    made = self.good(source, "--keep-original")
                    self.assertNotIn(secret, json.dumps(made))
                    self.assertEqual(made["source"]["repairs"], ["text-redacted"])
        for text in ("https://example.org/a/b?c=/d", "and/or 5/6 ~5 v1..v2 3 // 4", "src/日本/x", "/review-change"):
            self.assertEqual(self.good(bubbles(summary=text))["outcome"], text)

    def test_too_much_is_refused_where_it_stands(self):
        for pointer, source in (("/summary", bubbles(summary="x" * 8193)),
                                ("/artifactsCreated/50", bubbles(artifactsCreated=[f"a/{i}" for i in range(51)])),
                                ("/evidenceRefs/59", bubbles(evidenceRefs=[f"r{i}" for i in range(60)]))):
            self.refused("X108", source)
            self.assertEqual(self.convert(source).failure["violations"][0]["pointer"], pointer)


if __name__ == "__main__":
    harness.unittest.main()
