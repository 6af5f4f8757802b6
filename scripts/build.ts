import { rm } from "node:fs/promises"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "rolldown"
import { buildPage } from "./build-page.ts"

/**
 * Bundles what is published: plain JavaScript, because Node strips types only outside node_modules, and few files,
 * because most of a start is finding and reading them. A checkout needs none of this. With the name of a folder, it is
 * put there, and the page is left out.
 */
const root = fileURLToPath(new URL("..", import.meta.url))
const [elsewhere] = process.argv.slice(2)
const dir = elsewhere ?? "dist"
await rm(resolve(root, dir), { recursive: true, force: true })
await build({
  cwd: root,
  platform: "node",
  input: {
    index: "src/index.ts",
    client: "src/client/index.ts",
    device: "src/device/index.ts",
    protocol: "src/protocol/index.ts",
    testing: "src/testing.ts",
    "backup-thread": "src/store/engine/backup-thread.ts",
    "checkpoint-thread": "src/store/engine/checkpoint-thread.ts",
    "scrub-thread": "src/store/engine/scrub-thread.ts",
    "embed-thread": "src/models/embedders/embed-thread.ts",
    "sqlite-child": "src/packs/analyst/sqlite/sqlite-child.ts",
    "document-child": "src/packs/research/document-child.ts",
    "csv-child": "src/packs/analyst/csv/csv-child.ts",
    "sqlite-change-child": "src/packs/analyst/sqlite/sqlite-change-child.ts",
    "postgres-guard-thread": "src/packs/analyst/postgres/postgres-guard-thread.ts",
    "chart-check-child": "src/packs/analyst/charts/chart-check-child.ts",
  },
  // Drivers and adapters are loaded when used, each by its own package.
  external: [
    /^node:/,
    "pg",
    "libpg-query",
    "unpdf",
    "htmlparser2",
    "ajv",
    "vega",
    /^vega-lite/,
    /^@ai-sdk\//,
    /^hono/,
    /^@hono\//,
    /^@lat\.md\//,
    /^zod/,
  ],
  output: { dir, format: "esm", chunkFileNames: "[name].js", comments: false },
})
if (elsewhere === undefined) await buildPage()
