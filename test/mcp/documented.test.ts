import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { readServers } from "../../core/tools/mcp/server-list.ts"

const page = readFileSync(new URL("../../docs/reference/mcp-servers.md", import.meta.url), "utf8")
const [, file = ""] = /```json\n([^`]*)```/.exec(page) ?? []
const environment = { PAPERS_TOKEN: "a-token-of-papers", NOTES_KEY: "a-key-of-the-notes" }

test("the file that docs/reference/mcp-servers.md shows is read as the page says", () => {
  const [papers, notes] = readServers(file, environment)
  expect(papers).toMatchObject({
    key: "=papers",
    target: { kind: "http", headers: { authorization: "Bearer a-token-of-papers" } },
    agents: ["workspace", "research"],
    rules: { search: "read", delete: "off", "*": "ask" },
    isPublic: true,
    timeoutSeconds: 60,
    secrets: ["a-token-of-papers"],
  })
  expect(notes).toMatchObject({
    target: { kind: "program", command: ["notes-mcp", "--folder", "."], network: false, sandbox: true },
    agents: ["workspace"],
    isPublic: false,
    secrets: ["a-key-of-the-notes"],
  })
})

test("a client's secret is a variable too, and hidden", () => {
  const oauth = { clientId: "pawl", clientSecret: "${NOTES_KEY}", scope: "notes" }
  const text = JSON.stringify({ mcpServers: { notes: { url: "https://a.example/mcp", oauth } } })
  const [notes] = readServers(text, environment)
  expect(notes).toMatchObject({
    target: { oauth: { clientId: "pawl", clientSecret: "a-key-of-the-notes", scope: "notes" } },
    secrets: ["a-key-of-the-notes"],
  })
})

test.each([
  [
    "a name that tools of ours could have",
    '{"mcpServers": {"my_notes": {"url": "https://a.example"}}}',
    /not a valid server name/,
  ],
  [
    "a variable that is not set",
    '{"mcpServers": {"a": {"url": "https://a.example/${NOBODY}"}}}',
    /a: the variable NOBODY is not set/,
  ],
  [
    "a secret of ours",
    '{"mcpServers": {"a": {"url": "https://a.example/${PAWL_TOKEN}"}}}',
    /PAWL_TOKEN cannot be named/,
  ],
  ["an address that is none", '{"mcpServers": {"a": {"url": "file:///etc/passwd"}}}', /^a\.url must be an address/],
  [
    "a field that nobody reads",
    '{"mcpServers": {"a": {"url": "https://a.example", "trust": true}}}',
    /^a has the unknown field "trust"/,
  ],
  ["what is no JSON", "{", /not valid JSON/],
])("%s is refused with its position", (_, text, says) => {
  expect(() => readServers(text, { ...environment, PAWL_TOKEN: "x" })).toThrow(says)
})
