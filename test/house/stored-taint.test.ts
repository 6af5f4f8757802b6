import { expect, test } from "vitest"
import type { Agent } from "../../core/engine/definition/agent.ts"
import { filesTools } from "../../packs/files/agent.ts"
import { noFilesOptions } from "../../packs/files/no-files-options.ts"
import { personalTables } from "../../core/store/personal-tables.ts"
import { openInProcess } from "../../apps/cli/open/embedded.ts"
import { readConfig } from "../../apps/cli/settings/config.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"

/**
 * How each table keeps stored untrusted text marked as untrusted when another run reads it. A new table and a new
 * tool must be listed, so that untrusted text cannot pass for the user's own.
 */
const JOURNAL = "events of one conversation, whose state says what it has seen; a fork and a summary keep that"
const WORKSPACE = "a row is marked in tainted_row, and reading it through the workspace notes that (with-taint.ts)"
const ALWAYS = "every tool that reads it brings text from outside, whoever wrote it"
const NO_TEXT_OF_RUNS = "no run writes text to it that another one reads"

const HOW: Readonly<Record<string, string>> = {
  ...of(JOURNAL, "event", "run", "proposal", "inbox", "kept_fold", "applied_call", "audit_entry", "statement_attempt"),
  ...of(WORKSPACE, "task", "task_comment", "note", "project", "client", "checkpoint", "tainted_row", "note_vector"),
  ...of(ALWAYS, "collection", "document", "document_text", "passage", "passage_vector", "embedding", "edition"),
  // A file of a message is client context: a conversation that gets one has seen text of others.
  ...of(ALWAYS, "message_file", "message_file_part", "message_file_text", "message_file_use"),
  // Databases, made of uploads or connected: the analyst's tools bring both.
  ...of(ALWAYS, "connection", "query_result", "kept_file", "kept_file_part", "file_disk"),
  // The user has accepted a server's descriptions of its tools, by a hash.
  ...of(NO_TEXT_OF_RUNS, "mcp_server", "mcp_tool", "mcp_sign_in", "mcp_sign_in_attempt", "provider_key"),
  ...of(NO_TEXT_OF_RUNS, "delivery", "message_key", "earmark", "shared_run", "news", "workspace", "reservation"),
  ...of(NO_TEXT_OF_RUNS, "token", "session", "sign_in_link", "ticket", "authorization_code", "program_grant"),
  ...of(NO_TEXT_OF_RUNS, "issuer_identity", "device", "connected_device"),
  ...of(NO_TEXT_OF_RUNS, "budget", "usage", "usage_day", "usage_summed", "storage_use"),
}

function of(how: string, ...tables: readonly string[]): Record<string, string> {
  return Object.fromEntries(tables.map((table) => [table, how]))
}

test("every table with user data states how untrusted text in it stays untrusted", () => {
  const tables = new Set(personalTables.map(({ table }) => table))
  expect([...tables].filter((table) => HOW[table] === undefined)).toEqual([])
})

/** They read the conversation itself, which counts it already; they report untrusted parts with each answer. */
const OF_THE_CONVERSATION = ["more_tools", "find_earlier", "read_earlier"]

test("every tool that reads declares what its answers may contain", async () => {
  let agents: readonly Agent[] = []
  const data = dataFolder()
  await using _place = await openInProcess(readConfig({ HOME: data, PAWL_DATA: data }), {
    agents: (ofPacks) => (agents = ofPacks),
  })
  const ofAgents = agents.flatMap(({ tools }) => tools.names.map((name) => tools.find(name)!))
  const reads = [...ofAgents, ...filesTools(noFilesOptions)].filter(({ effect }) => effect === "read")
  expect(reads.length).toBeGreaterThan(20)
  const silent = reads.filter(({ name, taint: brings }) => brings === undefined && !OF_THE_CONVERSATION.includes(name))
  expect(silent.map(({ name }) => name)).toEqual([])
})

test("every change within a work folder marks the files that it writes", () => {
  const writes = filesTools(noFilesOptions).filter((tool) => tool.effect === "write" && !tool.onlyUndoes)
  expect(writes.filter(({ staysIn, taint: brings }) => staysIn !== "folder" || brings !== "private")).toEqual([])
})
