// A skipped test always says why: the last thing a run prints is what it did not test, and the reason.
export default class SkipReporter {
  onRunComplete(_contexts, results) {
    const skipped = new Map();
    for (const file of results.testResults)
      for (const test of file.testResults) {
        if (test.status !== 'pending') continue;
        const reason =
          test.fullName.match(/\(skipped: ([^)]*)\)/)?.[1] ?? `NO REASON GIVEN: ${test.fullName}`;
        skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
      }
    for (const [reason, count] of skipped) console.log(`skipped ${count} tests: ${reason}`);
    console.log(
      `${results.numPassedTests} passed, ${results.numFailedTests} failed, ${results.numPendingTests} skipped`,
    );
  }
}
