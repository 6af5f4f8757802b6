import { expect, test } from "vitest"
import { readProgram, withoutComments } from "./sources.ts"

/**
 * Files and folders that may parse JSON without limits, each with its reason. All other JSON is read with `readJson`,
 * which checks its size before it is parsed on the main thread.
 */
const mayParse: Readonly<Record<string, string>> = {
  "core/shared/text/read-json.ts": "is readJson",
  "core/shared/text/text.ts": "mends what JSON.stringify has just written",
  "core/engine/calls/tool-end.ts": "cleans what JSON.stringify has just written, a million characters at most",
  "core/engine/definition/schema.ts": "copies a schema of a tool that the program itself defines",
  "core/engine/replay/snapshot.ts": "reads a snapshot that this server stored",
  "client/device/ledger.ts": "reads rows that this device wrote",
  "core/packs/import-pack.ts": "reads the manifest of a pack that runs in this process",
  "core/store/": "reads rows that this server wrote; they were bounded when they were accepted",
  "packs/analyst/csv/files.ts": "reads a note that this process left for its next start",
  "packs/analyst/postgres/changes.ts": "reads a mark that this server wrote into the database",
  "packs/analyst/postgres/json.ts": "unescapes one string that a pattern has found in a text that was counted",
  "packs/analyst/sqlite/changes.ts": "reads a mark that this server wrote into the database",
  "packs/files/folder/tainted-files.ts": "reads a file that this server wrote into its data folder",
  "packs/files/skills/installed-skills.ts": "reads a file that this program wrote into its data folder",
  "packs/analyst/charts/schema.ts": "reads a file of the installed package",
  "labs/minilm/": "reads files of the installed package",
  "core/tools/json-schema/schema-job.ts": "runs in a thread of its own, with a time limit",
  "client/": "runs in the process of a person who chose the server; answers may be a whole export",
  "apps/cli/": "reads files that the operator of this machine names",
  "core/testing/": "reads what a test wrote",
  "labs/crashtest/": "reads what its own processes wrote",
  "labs/replay/": "reads files that the operator of this machine names",
  "labs/evaluate/report/": "reads a file that the caller names",
  "apps/terminal/": "reads what the person at the terminal typed",
  "core/server/routes/account/oidc/callback-page.ts": "is a script of a page of ours, in the browser",
}

/** Scripts inside pages of ours, which ask their own server. */
const isPage = (path: string) => path.endsWith("-page.ts") || path.endsWith("/door-script.ts")

const isShipped = (path: string) => !/\.(?:test|fixture)\.ts$/.test(path)
const allowed = (path: string) =>
  Object.keys(mayParse).find((each) => (each.endsWith("/") ? path.startsWith(each) : path === each))

const found = Object.entries(readProgram()).flatMap(([path, source]) => {
  const code = withoutComments(source)
  if (!isShipped(path)) return []
  const isParsing = /\bJSON\s*\.\s*parse\b/.test(code) && !allowed(path)
  const isReadingJson = /\.json\(\)/.test(code) && !isPage(path)
  return isParsing || isReadingJson ? [path] : []
})

test("external JSON is read with readJson, which checks its size first", () => {
  expect(found).toEqual([])
})

test("each exception is still needed", () => {
  const parsing = Object.entries(readProgram()).flatMap(([path, source]) =>
    isShipped(path) && /\bJSON\s*\.\s*parse\b/.test(withoutComments(source)) ? [allowed(path)] : [],
  )
  expect(Object.keys(mayParse).filter((each) => !parsing.includes(each))).toEqual([])
})
