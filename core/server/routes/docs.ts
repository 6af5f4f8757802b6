import type { Hono } from "hono"
import { routes } from "../../protocol/routes/index.ts"
import type { Env } from "../auth/credentials.ts"
import { serveRoute } from "../request/serve-route.ts"
import { type PackRoutes, toRoute } from "./packs.ts"
import { type PagePorts, sendFile } from "./page.ts"
import { z } from "zod"
import { ConversationDetail, ProblemAnswer, RunAnswer, StateAnswer } from "../../protocol/answers.ts"
import { ConversationView, Run } from "../../protocol/conversation/conversation.ts"
import { feedFrames, frames } from "../../protocol/frames.ts"
import { Message } from "../../protocol/conversation/message.ts"
import { OpenAiError } from "../../protocol/dialects/openai.ts"
import { Proposal } from "../../protocol/proposals/proposal.ts"
import type { Route } from "../../protocol/routes/route.ts"
import { errorCodes, statusOf } from "../../protocol/errors.ts"
import { own } from "../../shared/text/json.ts"

interface DocsPorts extends PackRoutes, Pick<PagePorts, "docs"> {
  readonly version: string
}

/** The built documentation, and the API reference including the routes of packs. */
export function docsRoutes(app: Hono<Env>, { version, docs, packRoutes = [] }: DocsPorts): void {
  const added = Object.fromEntries(packRoutes.map((route) => [`${route.pack}_${route.name}`, toRoute(route)]))
  let document: string | undefined
  let reference: string | undefined

  serveRoute(app, routes.openapi, (c) => {
    document ??= JSON.stringify(toOpenApi(version, added))
    return c.body(document, 200, { "content-type": "application/json" })
  })

  serveRoute(app, routes.apiReference, (c) => {
    reference ??= toReferencePage(version, added)
    // No script may run on this page, even if a description contains one.
    return c.html(reference, 200, { "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'" })
  })

  // Relative, because of proxies with a path prefix.
  serveRoute(app, routes.docs, (c) => c.redirect(docs?.get("index.html") ? "docs/" : "docs/api"))
  app.get("/docs/api.html", (c) => c.redirect("api"))
  app.get("/llms.txt", (c) => c.redirect("docs/llms.txt"))
  app.get("/docs/*", (c) => {
    const path = c.req.path.replace(/^.*?\/docs\//, "") || "index.html"
    const file = docs?.get(path) ?? docs?.get(`${path}.html`)
    return file ? sendFile(c, file) : c.text("There is no such page. The documentation begins at /docs.", 404)
  })
}

type Json = Record<string, unknown>

/** Schemas with a name of their own; all others are inlined. */
const named = {
  Conversation: ConversationView,
  ConversationDetail,
  Message,
  Proposal,
  Run,
  RunAnswer,
  State: StateAnswer,
  Problem: ProblemAnswer,
}

/** The OpenAPI 3.1 document, generated from the schemas that validate requests. */
export function toOpenApi(version: string, added: Readonly<Record<string, Route>> = {}): Json {
  const printer = new Printer()
  const paths: Record<string, Json> = {}
  for (const [name, route] of Object.entries<Route>({ ...routes, ...added })) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: printer.operation(name, route) }
  }
  return {
    openapi: "3.1.0",
    info: { title: "Pawl", version, description: "An agent server. Errors are problem JSON with a stable `code`." },
    security: [{ bearer: [] }, { session: [], page: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        session: { type: "apiKey", in: "cookie", name: "pawl_session_{port}" },
        page: { type: "apiKey", in: "header", name: "X-Pawl-Session" },
      },
      schemas: printer.components(),
    },
  }
}

class Printer {
  readonly #registry = z.registry<{ id: string }>()
  readonly #schemas: Record<string, unknown> = {}

  constructor() {
    for (const [id, schema] of Object.entries(named)) this.#registry.add(schema, { id })
    this.#schemas.Frame = { oneOf: Object.entries(frames).map(([type, data]) => this.#frame(type, data)) }
    this.#schemas.FeedFrame = { oneOf: Object.entries(feedFrames).map(([type, data]) => this.#frame(type, data)) }
  }

  components(): Json {
    return Object.fromEntries(Object.entries(this.#schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  operation(operationId: string, route: Route): Json {
    const { says, needs, body, takes } = route
    const file =
      takes && Object.fromEntries(takes.map((type) => [type, { schema: { type: "string", format: "binary" } }]))
    return {
      operationId,
      summary: says,
      ...(needs === "nobody" ? { security: [] } : { description: `Needs the scope \`${needs}\`.` }),
      parameters: [...pathParameters(route.path), ...this.#queryParameters(route.query)],
      ...(body ? { requestBody: { content: { "application/json": { schema: this.#print(body, "input") } } } } : {}),
      ...(file ? { requestBody: { required: true, content: file } } : {}),
      responses: this.#responses(route),
    }
  }

  #responses(route: Route): Json {
    const { answers, stream, media = "application/json" } = route
    const events = { "text/event-stream": { schema: { $ref: streamOf(route) } } }
    const listed = Object.entries(answers).map(([status, schema], index) => {
      const content = {
        ...(schema ? { [media]: { schema: this.#print(schema, "output") } } : {}),
        ...(stream && index === 0 ? events : {}),
      }
      return [
        status,
        { description: describe(Number(status)), ...(Object.keys(content).length > 0 ? { content } : {}) },
      ]
    })
    if (stream && listed.length === 0) listed.push(["200", { description: describe(200), content: events }])
    const problem =
      route.errors === "openai"
        ? { "application/json": { schema: this.#print(OpenAiError, "output") } }
        : { "application/problem+json": { schema: this.#print(ProblemAnswer, "output") } }
    return { ...Object.fromEntries(listed), default: { description: "What went wrong.", content: problem } }
  }

  #queryParameters(query: z.ZodType | undefined): Json[] {
    if (!query) return []
    const { properties = {} } = this.#print(query, "input") as { properties?: Record<string, Json> }
    return Object.entries(properties).map(([name, schema]) => ({ name, in: "query", required: false, schema }))
  }

  #frame(type: string, data: z.ZodType): Json {
    const properties = { id: { type: "string" }, type: { const: type }, data: this.#print(data, "output") }
    return { type: "object", properties, required: Object.keys(properties) }
  }

  #print(schema: z.ZodType, io: "input" | "output"): Json {
    const {
      $schema: _,
      $defs,
      ...json
    } = z.toJSONSchema(schema, {
      io,
      metadata: this.#registry,
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema, path }) => {
        // A custom check has no JSON Schema; its `meta` contains one.
        if (zodSchema._zod.def.type === "custom") Object.assign(jsonSchema, z.globalRegistry.get(zodSchema))
        // An answer may gain fields: a strict client would break with the next release.
        if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
        if (path.length > 0) delete jsonSchema.$schema
      },
    }) as Json
    for (const [name, definition] of Object.entries(($defs as Record<string, Json> | undefined) ?? {})) {
      this.#schemas[name] = pointed(definition)
    }
    const id = this.#registry.get(schema)?.id
    if (id === undefined) return pointed(json) as Json
    // A named schema may be printed as a reference to its own definition, which must not be stored under that name.
    if (json.$ref === undefined) this.#schemas[id] = pointed(json)
    return { $ref: `#/components/schemas/${id}` }
  }
}

/** OpenAPI keeps named schemas in another place, and does not know `id`. */
function pointed(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(pointed)
  if (typeof json !== "object" || json === null) return json
  return Object.fromEntries(
    Object.entries(json).flatMap(([key, value]) => {
      if (key === "id" && typeof value === "string") return []
      if (key === "$ref") return [[key, String(value).replace("#/$defs/", "#/components/schemas/")]]
      return [[key, pointed(value)]]
    }),
  )
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return { name, in: "path", required: true, schema: { type: "string" } }
  })
}

const streamOf = ({ path }: Route) => `#/components/schemas/${path === "/api/feed" ? "FeedFrame" : "Frame"}`

function describe(status: number): string {
  const descriptions: Record<number, string> = {
    101: "From here on it is a socket.",
    201: "Made.",
    202: "Kept; it will be answered later.",
    204: "Done.",
  }
  return descriptions[status] ?? "The answer."
}

/** The HTML reference: one page without a script, from the same table. */
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

/** Escapes a sentence and renders its `code`. */
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
