import type { Log } from "../agent/ports.ts"
import type { PdfReader } from "./file-contents.ts"

/** Reads documents where no library is open. What does it is loaded with the first one: most programs never send any. */
export function openPdfReader(log: Log): PdfReader & AsyncDisposable {
  const load = async () => {
    const { DocumentReader } = await import("../packs/research/document-reader.ts")
    return new DocumentReader({ log })
  }
  let loading: ReturnType<typeof load> | undefined
  return {
    async readPdf(bytes, reading) {
      const reader = await (loading ??= load())
      const { text, about } = await reader.file("pdf", bytes, reading)
      return { text, ...(about.pages === undefined ? {} : { pages: about.pages }) }
    },
    async [Symbol.asyncDispose]() {
      await (await loading)?.close()
    },
  }
}
