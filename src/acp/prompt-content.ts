import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import type { ContentBlock } from "@agentclientprotocol/sdk"
import { refuseRequest } from "./refusal.ts"

/** A file that goes with words. */
export interface AlongFile {
  readonly name: string
  readonly bytes: Uint8Array
}

export interface PromptContent {
  readonly text: string
  readonly files: readonly AlongFile[]
}

/**
 * What an editor's prompt says. A link names a file, which the agent can read; what is embedded comes after the words, with
 * where it is from; images and other bytes go along as files.
 */
export function toPromptContent(blocks: readonly ContentBlock[], root: string): PromptContent {
  const words: string[] = []
  const below: string[] = []
  const files: AlongFile[] = []
  for (const block of blocks) {
    switch (block.type) {
      case "text":
        words.push(block.text)
        break
      case "resource_link":
        words.push(placeOf(block.uri, root))
        break
      case "resource": {
        const { resource } = block
        const place = placeOf(resource.uri, root)
        if ("text" in resource) {
          words.push(place)
          below.push(`\n\n${place}:\n${fenced(resource.text)}`)
        } else files.push({ name: basename(place), bytes: Buffer.from(resource.blob, "base64") })
        break
      }
      case "image":
        files.push({ name: nameOfImage(block), bytes: Buffer.from(block.data, "base64") })
        break
      case "audio":
        throw refuseRequest("Pawl does not listen to audio; say it in words.")
    }
  }
  return { text: `${words.join("")}${below.join("")}`, files }
}

function nameOfImage({ uri, mimeType }: { uri?: string | null | undefined; mimeType: string }): string {
  const named = uri ? basename(uri.split(/[?#]/)[0] ?? "") : ""
  return named.includes(".") ? named : `image.${/^image\/(\w+)/.exec(mimeType)?.[1] ?? "png"}`
}

/** A file of the folder by its path in it, as the tools take it; anything else as it was named. */
function placeOf(uri: string, root: string): string {
  if (!uri.startsWith("file:")) return uri
  const [address = "", fragment] = uri.split("#")
  try {
    const path = fileURLToPath(address)
    const below = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
    return fragment ? `${below} (${fragment})` : below
  } catch {
    return uri
  }
}

/** With a fence that the text itself does not hold. */
function fenced(text: string): string {
  let longest = 2
  for (const [ticks] of text.matchAll(/`+/g)) longest = Math.max(longest, ticks.length)
  const fence = "`".repeat(longest + 1)
  return `${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`
}
