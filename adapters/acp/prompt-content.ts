import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import type { ContentBlock } from "@agentclientprotocol/sdk"
import { MAX_FILES } from "../../core/protocol/conversation/message.ts"
import { refuseRequest } from "./refusal.ts"

/** A file that goes with words. */
export interface AlongFile {
  readonly name: string
  readonly bytes: Uint8Array
  /** Where its content is from on this machine: none for content without an address of a file. */
  readonly paths: readonly string[]
  /** It holds a text, which can be joined with others if there are too many files. */
  readonly isText?: true
}

export interface PromptContent {
  readonly text: string
  readonly files: readonly AlongFile[]
}

/**
 * What an editor's prompt says. A link names a file, which the agent can read. What is embedded goes along as a file, as
 * images do: others may have written it, so it must not stand among the words of the person.
 */
export function toPromptContent(blocks: readonly ContentBlock[], root: string): PromptContent {
  const words: string[] = []
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
        const [path] = pathOf(resource.uri)
        const file = { name: basename(path ?? resource.uri) || "text", paths: path === undefined ? [] : [path] }
        if ("text" in resource) {
          words.push(place)
          files.push({ ...file, bytes: Buffer.from(`${place}:\n${resource.text}`), isText: true })
        } else files.push({ ...file, bytes: Buffer.from(resource.blob, "base64") })
        break
      }
      case "image":
        files.push({ name: nameOfImage(block), bytes: Buffer.from(block.data, "base64"), paths: [] })
        break
      case "audio":
        throw refuseRequest("Pawl does not listen to audio; say it in words.")
    }
  }
  return { text: words.join(""), files: joinedTexts(files) }
}

/** With as many texts joined to one as it takes to fit into a message. */
function joinedTexts(files: readonly AlongFile[]): AlongFile[] {
  const texts = files.filter(({ isText }) => isText)
  const joined = texts.slice(-(files.length - MAX_FILES + 1))
  if (files.length <= MAX_FILES || joined.length < 2) return [...files]
  const bytes = Buffer.concat(joined.flatMap((file) => [file.bytes, Buffer.from("\n\n")]))
  const isAllOnDisk = joined.every(({ paths }) => paths.length > 0)
  const one = { name: "texts.txt", bytes, paths: isAllOnDisk ? joined.flatMap(({ paths }) => paths) : [] }
  return [...files.filter((file) => !joined.includes(file)), one]
}

function nameOfImage({ uri, mimeType }: { uri?: string | null | undefined; mimeType: string }): string {
  const named = uri ? basename(uri.split(/[?#]/)[0] ?? "") : ""
  return named.includes(".") ? named : `image.${/^image\/(\w+)/.exec(mimeType)?.[1] ?? "png"}`
}

/** A file of the folder by its path in it, as the tools take it; anything else as it was named. */
function placeOf(uri: string, root: string): string {
  const [path, fragment] = pathOf(uri)
  if (path === undefined) return uri
  const below = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
  return fragment ? `${below} (${fragment})` : below
}

/** The path of a file on this machine, and what part of it is meant. */
function pathOf(uri: string): [path?: string, fragment?: string | undefined] {
  if (!uri.startsWith("file:")) return []
  const [address = "", fragment] = uri.split("#")
  try {
    return [fileURLToPath(address), fragment]
  } catch {
    return []
  }
}
