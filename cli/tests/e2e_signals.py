"""INT and TERM while nothing is at stake yet: waiting for a manifest that does not come."""
import signal

import harness
from harness import Case, start_reading


class Signals(Case):
    def test_status_and_one_line(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            child = start_reading("validate", "-")
            child.send_signal(number)
            out, err = child.communicate(timeout=10)
            result = harness.Result(child.returncode, out, err)
            failure = self.assert_failure(result, status, "error", "interrupted")
            self.assertIs(failure["retryable"], True)
            self.assertEqual(out, b"")

    def test_other_signals_are_left_alone(self):
        child = start_reading("validate", "-")
        child.send_signal(signal.SIGHUP)
        child.communicate(timeout=10)
        self.assertEqual(child.returncode, -signal.SIGHUP)


if __name__ == "__main__":
    harness.main()
