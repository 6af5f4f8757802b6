import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig, type TestUserConfig } from "vitest/config"
import { OrderOfFiles } from "./test/support/order-of-files.ts"

/**
 * Two more than there are cores, for while others wait for a child, a browser or the database: with one more, a sixth of
 * two cores stood idle. Of a large machine no more than these: each takes memory, and connections of the one PostgreSQL.
 */
const together = Math.min(availableParallelism() + 2, 16)

/** Files that are left out this time: `scripts/test.ts`. */
const leftOut = process.env.PAWL_TEST_LEFT_OUT?.split(",") ?? []

/** Where all files run, the slow ones stand among the others, in the same workers: `test/support/order-of-files.ts`. */
const isWhole = process.env.PAWL_TEST_WHOLE === "1"

/** A file that is about PostgreSQL alone has no test then, which is no mistake of its own. */
const isWithoutPostgres = process.env.PAWL_TEST_ENGINES === "sqlite"

/** The names of files say how they are run: `x.slow.test.ts`, `x.fresh.test.ts`, `test/web/x.test.ts`. */
const named = (tag: string) => `{src,web,test}/**/*.${tag}.test.ts`
const ofPage = "test/web/**"

/** Children and threads are started as they are published: from source that takes five times as much. */
const besideModule = join(import.meta.dirname, "test/support/processes/beside-module.ts")

/**
 * All share one queue, so that no core waits for the end of each. Times are there to end what hangs, also on a machine
 * three times as slow: what a test takes is nobody's measure.
 */
const projects: Readonly<Record<string, TestUserConfig>> = {
  /** What waits for events and not for the clock, and takes a moment; in a run of all, the slow ones too. */
  unit: {
    include: ["{src,web,test}/**/*.test.ts"],
    exclude: [named(isWhole ? "fresh" : "{slow,fresh}"), ofPage, ...leftOut],
    maxWorkers: together,
    testTimeout: isWhole ? 180_000 : 120_000,
  },
  /** The same where it matters that nobody has loaded a module before: each file in a process of its own. */
  fresh: { include: [named("fresh")], isolate: true, maxWorkers: together, testTimeout: 120_000 },
  /** Kill -9 loops, property tests, recorded traffic, terminals: all that does not fit into a minute together with `unit`. */
  ...(isWhole
    ? {}
    : {
        slow: { include: [named("slow")], exclude: [ofPage, ...leftOut], maxWorkers: together, testTimeout: 180_000 },
      }),
  /** The page in a real browser, which all files share. */
  web: { include: [`${ofPage}/*.test.ts`], exclude: leftOut, maxWorkers: together, ...page() },
}

/** Builds the page, and finds a Chromium. What is looked for is there at once, or late on a machine that is busy. */
function page(): TestUserConfig {
  return {
    globalSetup: "test/support/web/setup.ts",
    setupFiles: ["test/support/each-file.ts", "test/support/web/skip-without-browser.ts"],
    testTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
  }
}

export default defineConfig({
  test: {
    // Runs once for all projects.
    globalSetup: "test/support/setup.ts",
    sequence: { sequencer: OrderOfFiles },
    projects: Object.entries(projects).map(([name, options]) => ({
      test: {
        name,
        // Files share the modules that they load: no module of ours remembers anything that another file could meet.
        isolate: false,
        setupFiles: "test/support/each-file.ts",
        alias: [{ find: /^.*\/children\/beside-module\.ts$/, replacement: besideModule }],
        passWithNoTests: isWithoutPostgres,
        hookTimeout: 120_000,
        // A second, the default, is luck on a machine that has other things to do; whoever waits in vain waits once.
        expect: { poll: { timeout: 60_000 } },
        ...options,
      },
    })),
  },
})
