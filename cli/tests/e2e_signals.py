"""INT and TERM while nothing is at stake yet: waiting for a manifest that does not come."""
import os
import signal
import subprocess
import time

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

    def test_the_second_ends_at_once(self):
        """Stuck in a pipe that nobody empties, with something done that is still to be told."""
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        try:
            while True:
                os.write(writing, b"x" * 65536)
        except BlockingIOError:
            os.set_blocking(writing, True)
        path = self.path("key")
        child = subprocess.Popen([harness.JOBS, "keys", "new", path], stdout=writing, stderr=subprocess.PIPE,
                                 env=harness.environment())
        deadline = time.monotonic() + 20
        while not os.path.exists(path) or os.path.getsize(path) != 64:
            self.assertLess(time.monotonic(), deadline)
        first = time.monotonic()
        while child.poll() is None:
            child.send_signal(signal.SIGINT)
            self.assertLess(time.monotonic(), deadline)
        self.assertGreater(time.monotonic() - first, 0.04)  # the first one waited
        _, err = child.communicate()
        os.close(reading)
        os.close(writing)
        self.assert_failure(harness.Result(child.returncode, b"", err), 130, "error", "interrupted")
        self.assertEqual(os.path.getsize(path), 64)

    def test_other_signals_are_left_alone(self):
        child = start_reading("validate", "-")
        child.send_signal(signal.SIGHUP)
        child.communicate(timeout=10)
        self.assertEqual(child.returncode, -signal.SIGHUP)


if __name__ == "__main__":
    harness.main()
