import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    // Runs once for both projects.
    globalSetup: "test/setup.ts",
    projects: [
      // On a busy machine the five seconds of a default are luck.
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "web/**/*.test.ts", "test/*.test.ts"],
          testTimeout: 20_000,
          // Every core: these wait for events, not for the clock. The others have the machine to themselves.
          maxWorkers: "100%",
          sequence: { groupOrder: 0 },
        },
      },
      // Kill -9 loops, property tests, recorded traffic: all that does not fit into a minute together with `unit`.
      {
        test: {
          name: "slow",
          include: ["test/slow/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      // The page in a real browser. Its set-up builds the page and finds, or installs, Chromium.
      {
        test: {
          name: "web",
          include: ["test/web/**/*.test.ts"],
          globalSetup: "test/web/setup.ts",
          testTimeout: 180_000,
          hookTimeout: 60_000,
          // What is looked for again and again is there at once, or late on a machine that has other things to do.
          expect: { poll: { timeout: 30_000 } },
          // One browser at a time: some of these tests have an eye on the clock.
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
