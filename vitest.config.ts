import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defaultServerConditions } from "vite"
import { defineConfig, type TestUserConfig } from "vitest/config"

/**
 * Two more than there are cores, for while others wait for a child, a browser or the database: with one more, a sixth of
 * two cores stood idle. Of a large machine no more than these: each takes memory, and connections of the one PostgreSQL.
 */
const together = Math.min(availableParallelism() + 2, 16)

/** Files that are left out this time: `scripts/test.ts`. */
const leftOut = process.env.PAWL_TEST_LEFT_OUT?.split(",") ?? []

/** Where all files run, the slow ones stand among the others, in the same workers. */
const isWhole = process.env.PAWL_TEST_WHOLE === "1"

/** A file that is about PostgreSQL alone has no test then, which is no mistake of its own. */
const isWithoutPostgres = process.env.PAWL_TEST_ENGINES === "sqlite"

/** The names of files say how they are run: `x.slow.test.ts`, `x.fresh.test.ts`, `test/web/x.test.ts`. */
const named = (tag: string) => `{core,client,packs,adapters,apps,labs,test}/**/*.${tag}.test.ts`
const ofPage = "test/web/**"

/** Starts child programs and threads from the built package: from source they take five times as long. */
const builtThread = join(import.meta.dirname, "test/support/processes/built-thread.ts")
const startsBuiltPrograms = {
  name: "starts-built-programs",
  enforce: "pre" as const,
  resolveId: (source: string) => (source.endsWith("/processes/thread.ts") ? builtThread : undefined),
}

const retryTimeOuts: TestUserConfig = isWhole ? { retry: { count: 1, condition: /time[d ]?-?\s?out/i } } : {}

/**
 * A test that times out on a busy machine runs once more in a run of all tests, and so does every test of the page: a
 * browser has more causes to be late. `scripts/test.ts` names each test that needed it. A wrong result elsewhere is
 * never tried again: it may be the one lost write in a thousand that the test is there for.
 *
 * All share one queue, so that no core waits for the end of each. The time-outs only end tests that hang, also on a machine
 * that is three times as slow.
 */
const projects: Readonly<Record<string, TestUserConfig>> = {
  /** What waits for events and not for the clock, and takes a moment; in a run of all, the slow ones too. */
  unit: {
    include: ["{core,client,packs,adapters,apps,labs,test}/**/*.test.ts"],
    exclude: [named(isWhole ? "fresh" : "{slow,fresh}"), ofPage, ...leftOut],
    maxWorkers: together,
    testTimeout: isWhole ? 180_000 : 120_000,
    ...retryTimeOuts,
  },
  /** Each file in its own process, because it needs modules that were not loaded before, or measures memory. */
  fresh: {
    include: [named("fresh")],
    exclude: leftOut,
    isolate: true,
    maxWorkers: together,
    testTimeout: 180_000,
    ...retryTimeOuts,
  },
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
    globalSetup: "test/web/browser/setup.ts",
    setupFiles: ["test/support/each-file.ts", "test/web/browser/skip-without-browser.ts"],
    testTimeout: 240_000,
    retry: 1,
    expect: { poll: { timeout: 60_000 } },
  }
}

/** Without `module`, which names files for bundlers: Node cannot load those of some packages. */
const conditions = ["pawl-source", ...defaultServerConditions.filter((condition) => condition !== "module")]

export default defineConfig({
  test: {
    // Runs once for all projects.
    globalSetup: "test/support/setup.ts",
    // A worker writes its compile cache when it stops, and PostgreSQL stops at the end of the run. The default of ten seconds
    // is too short for that on a busy machine; Vitest would then exit before the last line of `scripts/test.ts`.
    teardownTimeout: 120_000,
    projects: Object.entries(projects).map(([name, options]) => ({
      plugins: [startsBuiltPrograms],
      // `@pawl/core` and `@pawl/client` are their sources.
      resolve: { conditions },
      ssr: { resolve: { conditions } },
      test: {
        name,
        // Files share the modules that they load: no module of ours remembers anything that another file could meet.
        isolate: false,
        setupFiles: "test/support/each-file.ts",
        passWithNoTests: isWithoutPostgres,
        hookTimeout: 120_000,
        // A second, the default, is luck on a machine that has other things to do; whoever waits in vain waits once.
        expect: { poll: { timeout: 60_000 } },
        ...options,
      },
    })),
  },
})
