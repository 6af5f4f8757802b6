import { join } from "node:path"
import { isOwnSource } from "./entries.ts"

const root = join(import.meta.dirname, "..")

/**
 * Builds the document that draws charts: a single file, so that its policy can forbid loading anything. It contains the
 * worker's source as text, from which the frame's small script creates a worker.
 */
export async function buildChartFrame(): Promise<string> {
  const [worker, frame] = [await bundle("apps/web/chart/draw-worker.ts"), await bundle("apps/web/chart/frame.ts")]
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Chart</title></head>
<body><script type="text/plain" id="worker">${worker}</script><script>${frame}</script></body>
</html>
`
}

async function bundle(input: string): Promise<string> {
  const { build } = await import("rolldown")
  const { output } = await build({
    cwd: root,
    input,
    platform: "browser",
    write: false,
    logLevel: "silent",
    // Removes unused texts of the page from the frame.
    treeshake: {
      moduleSideEffects: (id) =>
        (!isOwnSource(id) || id.startsWith(join(root, "apps", "web"))) && !/[\\/]zod[\\/]/.test(id),
    },
    output: { format: "iife", minify: true, comments: false, codeSplitting: false },
  })
  // Escapes text that would end the script or start an HTML comment.
  return output[0].code.replaceAll(/<(?=\/script|!--|script)/gi, "\\x3C")
}
