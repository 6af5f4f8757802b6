import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"

// The tests start hundreds of processes, which all load the same code: what one has compiled, the next ones find.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), "pawl-compiled")

/** Every core, but of a large machine no more: each takes memory, and connections of the one PostgreSQL. */
const maxWorkers = Math.min(availableParallelism(), 16)

/** A second, the default, is luck on a machine that has other things to do; whoever waits in vain waits once. */
const poll = { timeout: 15_000 }

export default defineConfig({
  test: {
    // Runs once for all projects.
    globalSetup: "test/support/setup.ts",
    projects: [
      // On a busy machine the seconds of a default are luck, for tests and for what is done around them.
      {
        test: {
          name: "unit",
          expect: { poll },
          include: ["{src,web,test}/**/*.test.ts"],
          exclude: ["**/*.{slow,alone}.test.ts", "test/web/**"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // These wait for events, not for the clock. The others have the machine to themselves.
          maxWorkers,
          sequence: { groupOrder: 0 },
        },
      },
      // Kill -9 loops, property tests, recorded traffic: all that does not fit into a minute together with `unit`.
      {
        test: {
          name: "slow",
          expect: { poll },
          include: ["test/**/*.slow.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          maxWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      // These bound time, or look at all of the one PostgreSQL: each has the machine to itself.
      {
        test: {
          name: "alone",
          expect: { poll },
          include: ["test/**/*.alone.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      // The page in a real browser. Its set-up builds the page and finds, or installs, Chromium.
      {
        test: {
          name: "web",
          include: ["test/web/**/*.test.ts"],
          globalSetup: "test/support/web/setup.ts",
          setupFiles: "test/support/web/skip-without-browser.ts",
          testTimeout: 180_000,
          hookTimeout: 60_000,
          // What is looked for again and again is there at once, or late on a machine that has other things to do.
          expect: { poll: { timeout: 30_000 } },
          // One browser at a time: some of these tests have an eye on the clock.
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
