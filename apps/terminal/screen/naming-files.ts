import { stat } from "node:fs/promises"
import type { MessageFile } from "../../../core/protocol/conversation/message.ts"
import type { ClipboardImage } from "../naming/clipboard-image.ts"
import { droppedPaths, filesWords, toNamed, toPlace } from "../naming/file-words.ts"
import type { Press } from "../input/keys.ts"
import { DIM, type Line, line } from "../line.ts"
import { clip } from "../wrap.ts"
import type { Talk } from "../talk/talk.ts"
import { Completion, type CompletionPorts } from "./completion.ts"
import { chatText } from "../../strings/chat.ts"

interface NamingPorts extends CompletionPorts {
  talk(): Talk | undefined
}

/** Files that go with what is written: named with `@path`, dropped on the terminal, or pasted as an image. */
export class NamingFiles {
  readonly #completion: Completion
  readonly #ports: NamingPorts
  readonly #readImage: () => Promise<ClipboardImage>
  #isPasting = false

  constructor(ports: NamingPorts, readImage = readFromClipboard) {
    this.#ports = ports
    this.#readImage = readImage
    this.#completion = new Completion(ports)
  }

  /** Whether a key is for files. */
  takes({ type }: Press): boolean {
    if (type === "complete") this.#completion.complete()
    else if (type === "paste-image") void this.pasteImage()
    else return false
    return true
  }

  /** After a key: what is being named may be another one by now. */
  pressed({ type }: Press): void {
    if (type !== "complete") void this.#completion.look()
  }

  /** Why what is written is not sent yet. */
  get obstacle(): string | undefined {
    const { words, editor } = this.#ports.writing
    if (this.#isPasting) return chatText.imageUploading
    return words.trim() === "" && editor.files ? chatText.attachmentAlone : undefined
  }

  /** What stands below the words. */
  lines(columns: number): Line[] {
    const files = this.#ports.writing.editor.files ?? []
    const along =
      files.length === 0 ? [] : [clip(line(`${filesWords(files)}${chatText.removeAttachment}`, DIM), columns)]
    return [...along, ...this.#completion.lines(columns)]
  }

  /** Ctrl+V: the image in the clipboard of this machine is uploaded, and goes with what is written. */
  async pasteImage(): Promise<void> {
    const { talk, tell, writing, changed } = this.#ports
    const open = talk()
    if (!open) return tell(chatText.pasteWhileOpening)
    if (this.#isPasting) return
    this.#isPasting = true
    tell(chatText.readingClipboard)
    try {
      const image = await this.#readImage()
      if ("problem" in image) return tell(image.problem)
      const name = `pasted.${image.type.replace("image/", "").replace("jpeg", "jpg")}`
      const file: MessageFile = await open.client.uploadFile({ file: new Uint8Array(image.bytes), query: { name } })
      const files = (writing.editor.files ?? []).filter(({ id }) => id !== file.id)
      writing.editor = { ...writing.editor, files: [...files, file] }
      tell("")
    } catch (error) {
      tell("")
      open.complain(error)
    } finally {
      this.#isPasting = false
      changed()
    }
  }

  /** What was pasted where the cursor is now: where it is the path of a file, it names it from now on. */
  async pasted(text: string): Promise<void> {
    const { writing, changed, tell } = this.#ports
    const paths = droppedPaths(text)
    if (!paths) return
    const end = writing.editor.at
    const all = await Promise.all(paths.map(isFile))
    const [start, { text: written, at }] = [end - text.length, writing.editor]
    // Whoever has changed it meanwhile means it as it is. A path behind an @ names its file already.
    if (!all.every(Boolean) || written.slice(start, end) !== text || /[@"]$/.test(written.slice(0, start))) return
    const before = /(?:^|\s)$/.test(written.slice(0, start)) ? "" : " "
    const named = `${before}${paths.map((path) => toNamed(path, false)).join(" ")} `
    writing.editor = {
      ...writing.editor,
      text: written.slice(0, start) + named + written.slice(end),
      at: at >= end ? at + named.length - text.length : at,
    }
    tell(paths.length === 1 ? chatText.fileAttached : chatText.filesAttached)
    changed()
  }
}

/** Loaded when it is first needed: hardly anybody pastes an image. */
const readFromClipboard = async (): Promise<ClipboardImage> =>
  (await import("../naming/clipboard-image.ts")).readClipboardImage()

const isFile = (path: string): Promise<boolean> =>
  stat(toPlace(path)).then(
    (found) => found.isFile(),
    () => false,
  )
