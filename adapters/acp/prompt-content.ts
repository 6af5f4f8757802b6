import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import type { ContentBlock } from "@agentclientprotocol/sdk"
import { MAX_FILES } from "../../core/protocol/conversation/message.ts"
import { refuseRequest } from "./refusal.ts"

/** A file that is attached to a message. */
export interface AttachedFile {
  readonly name: string
  readonly bytes: Uint8Array
  /** The paths of its content on this machine; empty for content without a file address. */
  readonly paths: readonly string[]
  /** It is text, so it can be joined with others if there are too many files. */
  readonly isText?: true
}

export interface PromptContent {
  readonly text: string
  readonly files: readonly AttachedFile[]
}

/**
 * Converts an editor's prompt. A link names a file, which the agent can read. Embedded content is attached as a file: others
 * may have written it, so it must not be part of the person's text.
 */
export function toPromptContent(blocks: readonly ContentBlock[], root: string): PromptContent {
  const textParts: string[] = []
  const files: AttachedFile[] = []
  for (const block of blocks) {
    switch (block.type) {
      case "text":
        textParts.push(block.text)
        break
      case "resource_link":
        textParts.push(placeOf(block.uri, root))
        break
      case "resource": {
        const { resource } = block
        const place = placeOf(resource.uri, root)
        const [path] = pathOf(resource.uri)
        const file = { name: basename(path ?? resource.uri) || "text", paths: path === undefined ? [] : [path] }
        if ("text" in resource) {
          textParts.push(place)
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
  return { text: textParts.join(""), files: joinedTexts(files) }
}

/** Joins texts if there are more files than a message may have. */
function joinedTexts(files: readonly AttachedFile[]): AttachedFile[] {
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

/** A file of the folder by its relative path, as tools expect it; any other URI unchanged. */
function placeOf(uri: string, root: string): string {
  const [path, fragment] = pathOf(uri)
  if (path === undefined) return uri
  const below = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
  return fragment ? `${below} (${fragment})` : below
}

/** The path of a file URI, and its fragment. */
function pathOf(uri: string): [path?: string, fragment?: string | undefined] {
  if (!uri.startsWith("file:")) return []
  const [address = "", fragment] = uri.split("#")
  try {
    return [fileURLToPath(address), fragment]
  } catch {
    return []
  }
}
