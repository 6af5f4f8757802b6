import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { createServer } from "node:net"
import { join } from "node:path"
import { expect, test } from "vitest"
import { command } from "../support/processes/commands.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"

/** Raw text that no message for people may contain: system codes and calls, schema text, and HTTP. */
const RAW =
  /\bE[A-Z]{4,}\b|getaddrinfo|errno|syscall|\b(?:open|lstat|scandir|mkdir) '|expected (?:number|string|object)|✖|Authorization|Bearer|\b(?:GET|POST|PUT|PATCH|DELETE) \/|\n\s+at /

const isRoot = process.getuid?.() === 0

/** A data folder with a file in it. */
function dataWith(name: string, text: string): string {
  const data = dataFolder()
  writeFileSync(join(data, name), text)
  return data
}

test.each<
  [mistake: string, words: (folder: string) => string[], sentence: RegExp, environment?: Record<string, string>]
>([
  [
    "a missing file",
    (folder) => ["exec", "hi", "--file", join(folder, "no.txt")],
    /no\.txt cannot be read: the file or folder does not exist/,
  ],
  [
    "a missing case file",
    (folder) => ["eval", join(folder, "no.yaml")],
    /no\.yaml cannot be read: the file or folder does not exist/,
  ],
  [
    "a missing scenario",
    (folder) => ["crashtest", join(folder, "no.json")],
    /no\.json cannot be read: the file or folder does not exist/,
  ],
  [
    "a missing folder",
    (folder) => ["exec", "hi", "--dir", join(folder, "no")],
    /no cannot be opened: the file or folder does not exist/,
  ],
  [
    "a folder in place of a file",
    (folder) => ["exec", "hi", "--file", folder],
    /cannot be read: it is a folder, not a file/,
  ],
  ["a folder in place of a schema", (folder) => ["exec", "hi", "--schema", folder], /it is a folder, not a file/],
  ["a folder in place of an output file", (folder) => ["exec", "hi", "-o", folder], /it is a folder, not a file/],
  [
    "a host that does not resolve",
    () => ["exec", "hi", "--server", "http://no-such-host.invalid"],
    /server cannot be reached: the host name (?:does not exist|cannot be resolved)/,
  ],
  [
    "a server that is not running",
    () => ["show", "--server", "http://127.0.0.1:1"],
    /server cannot be reached.*Check the address/,
  ],
  [
    "a server that is not running, for a device",
    () => ["exec", "hi", "--dir", ".", "--server", "http://127.0.0.1:2"],
    /server cannot be reached.*Check the address/,
  ],
  [
    "an address to listen on that does not resolve",
    () => ["serve", "--host", "no-such-host.invalid"],
    /Cannot listen on no-such-host\.invalid:\d+: the host name (?:does not exist|cannot be resolved)/,
  ],
  ["a number that is too large", () => ["exec", "hi", "--set", "temperature=3"], /temperature must be at most 2/],
  [
    "a word in place of a number",
    () => ["crashtest", "--agent", "a", "--say", "b", "--jobs", "many"],
    /--jobs must be a whole number of at least 1, not "many"/,
  ],
  [
    "a setting that is no number",
    () => ["serve", "--port", "many"],
    /PAWL_PORT cannot be "many". Allowed: a whole number/,
  ],
  [
    "a backup into a missing folder",
    (folder) => ["backup", join(folder, "no", "copy.db")],
    /The backup to .*copy\.db failed|There is no database/,
  ],
])("%s is reported in a sentence", async (_, words, sentence, environment = {}) => {
  const folder = dataFolder()
  const { code, stdout, stderr } = await command(words(folder), {
    PAWL_DATA: dataFolder(),
    PAWL_TOKEN: "pat_unknown",
    ...environment,
  })
  expect(stderr).toMatch(sentence)
  expect(stdout + stderr).not.toMatch(RAW)
  expect(code).not.toBe(0)
})

test.each([
  ["{", /mcp\.json: the file is not valid JSON/],
  ['{"mcpServers": {"a": {"url": 3}}}', /mcp\.json: a\.url must be/],
])("a mistake in mcp.json is reported in a sentence: %s", async (text, sentence) => {
  const { code, stderr } = await command(["exec", "hi"], { PAWL_DATA: dataWith("mcp.json", text) })
  expect([code, stderr]).toEqual([1, expect.stringMatching(sentence)])
  expect(stderr).not.toMatch(RAW)
})

test("a port that is in use is reported in a sentence", async () => {
  const other = createServer().listen(0, "127.0.0.1")
  await once(other, "listening")
  const { port } = other.address() as { port: number }
  const { code, stderr } = await command(["serve", "--port", String(port)], { PAWL_DATA: dataFolder() })
  other.close()
  expect([code, stderr]).toEqual([1, expect.stringContaining(`Port ${port} is already in use`)])
  expect(stderr).not.toMatch(RAW)
})

test.runIf(!isRoot)("a data folder that is read-only is reported in a sentence", async () => {
  const data = join(dataFolder(), "data")
  mkdirSync(data)
  chmodSync(data, 0o500)
  const { code, stderr } = await command(["migrate"], { PAWL_DATA: data })
  expect([code, stderr]).toEqual([1, expect.stringMatching(/cannot be (?:opened|created)/)])
  expect(stderr).not.toMatch(RAW)
})

test("a data folder that cannot exist is reported in a sentence", async () => {
  const { code, stderr } = await command(["migrate"], { PAWL_DATA: join(dataWith("file", ""), "file", "data") })
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/The data folder .* cannot be created: a file is in its path\./),
  ])
  expect(stderr).not.toMatch(RAW)
})

test("a token that the server refuses is reported in a sentence, and by every command", async () => {
  await using server = new PawlProcess(["serve"], { PAWL_DATA: dataFolder(), PAWL_PORT: "0" })
  const [, url = ""] = await server.says(/listening on (\S+)/)
  for (const words of [["exec", "hi"], ["exec", "hi", "--dir", "."], ["show"], ["mcp", "list"]]) {
    const environment = { PAWL_DATA: dataFolder(), PAWL_TOKEN: "pat_unknown" }
    const { code, stderr } = await command([...words, "--server", url], environment)
    expect(stderr, words.join(" ")).toMatch(
      /does not accept this token\. Create a new one there with "pawl token create/,
    )
    expect(stderr, words.join(" ")).not.toMatch(RAW)
    expect(code, words.join(" ")).not.toBe(0)
  }
})
