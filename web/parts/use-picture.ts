import { useEffect, useState } from "react"
import type { MessageFile } from "../../src/protocol/index.ts"
import { client } from "../state/client.ts"
import { MAX_DRAWN, type PixelSize } from "./file-chip.tsx"

/** What a small picture of a file is drawn from: the file at hand, or what the server has of it, which is asked for once. */
export function usePicture(file: MessageFile | undefined, own?: Blob): { blob?: Blob; pixels?: PixelSize } {
  const { id, type = "", size = 0, width, height } = file ?? {}
  const [fetched, setFetched] = useState<Blob>()
  const isAsked = own === undefined && id !== undefined && isDrawn(type) && size <= MAX_DRAWN
  useEffect(() => {
    if (!isAsked) return
    const gone = new AbortController()
    const asked = client.readFile({ params: { id }, signal: gone.signal }).then((answer) => answer.blob())
    asked.then(setFetched, () => {}) // its name stays
    return () => gone.abort()
  }, [id, isAsked])
  const blob = own ?? fetched
  return { ...(blob ? { blob } : {}), ...(width && height ? { pixels: { width, height } } : {}) }
}

const isDrawn = (type: string) => /^image\/(png|jpeg|gif|webp)$/.test(type)
