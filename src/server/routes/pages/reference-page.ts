import { z } from "zod"
import { errorCodes, statusOf } from "../../../protocol/errors.ts"
import { feedFrames, frames } from "../../../protocol/frames.ts"
import type { Route } from "../../../protocol/routes/route.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { own } from "../../../protocol/own.ts"

/** The reference for people: one page without a script, printed from the same table as everything else. */
export function toReferencePage(version: string, added: Readonly<Record<string, Route>> = {}): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pawl ${escape(version)}: HTTP reference</title><style>${STYLE}</style></head><body><main>
<h1>Pawl: HTTP reference</h1>
<p>Send a token as <code>Authorization: Bearer …</code>. For programs: <a href="/openapi.json">OpenAPI 3.1</a>.</p>
<h2>Addresses</h2>
${Object.entries<Route>({ ...routes, ...added })
  .map(toSection)
  .join("\n")}
<h2>Events</h2>
<p>A stream is made of server-sent events. The id is a cursor: <code>position</code>, or <code>position.offset</code> inside
an open reply. Send it back as <code>Last-Event-ID</code> and exactly the rest follows.</p>
${Object.entries({ ...frames, ...feedFrames })
  .map(toEvent)
  .join("\n")}
<h2>Errors</h2>
<p>Problem JSON with a stable <code>code</code>.</p>
<table><tr><th>code<th>status</tr>${errorCodes.map((code) => `<tr><td>${code}<td>${statusOf(code)}</tr>`).join("")}</table>
</main></body></html>
`
}

function toSection([name, { method, path, says, needs, query, body, answers, stream }]: [string, Route]): string {
  const parts = [
    needs === "nobody" ? "" : `<p>Scope: <code>${needs}</code></p>`,
    query ? toSchema("Query", query, "input") : "",
    body ? toSchema("Body", body, "input") : "",
    ...Object.entries(answers).map(([status, answer]) =>
      answer ? toSchema(`Answer ${status}`, answer, "output") : "",
    ),
    stream
      ? `<p>Answers as a stream of <a href="#events">events</a>${stream === "asked" ? " where <code>Accept: text/event-stream</code> asks for it" : ""}.</p>`
      : "",
  ]
  return `<details id="${name}"><summary><code class="method">${method}</code> <code>${escape(path)}</code> ${withCode(says)}</summary>
${parts.join("\n")}</details>`
}

function toEvent([type, data]: [string, z.ZodType]): string {
  return `<details><summary><code>${type}</code></summary>${toSchema("Data", data, "output")}</details>`
}

function toSchema(title: string, schema: z.ZodType, io: "input" | "output"): string {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline" })
  return `<h4>${title}</h4><pre>${escape(JSON.stringify(json, undefined, 2))}</pre>`
}

/** A sentence with its `names` set as such. */
const withCode = (sentence: string) => escape(sentence).replaceAll(/`([^`]+)`/g, "<code>$1</code>")

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }
const escape = (text: string) => text.replaceAll(/[&<>"]/g, (character) => own(ENTITIES, character) ?? character)

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
main { max-width: 60rem; margin: 0 auto; padding: 1rem }
details { border-bottom: 1px solid #8884; padding: .4rem 0 }
summary { cursor: pointer }
.method { display: inline-block; min-width: 4.5em; font-weight: bold }
pre { overflow: auto; max-height: 24rem; background: #8882; padding: .6rem; border-radius: .4rem }
td, th { text-align: left; padding: .1rem 1rem .1rem 0 }
`
