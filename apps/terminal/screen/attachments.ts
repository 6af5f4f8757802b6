import { stat } from "node:fs/promises"
import type { MessageFile } from "../../../core/protocol/conversation/message.ts"
import type { ClipboardImage } from "../attachments/clipboard-image.ts"
import { droppedPaths, describeFiles, toReference, resolvePath } from "../attachments/file-references.ts"
import type { Press } from "../input/keys.ts"
import { DIM, type Line, line } from "../line.ts"
import { clip } from "../wrap.ts"
import type { TerminalSession } from "../session/terminal-session.ts"
import { PathCompletion, type CompletionOptions } from "./path-completion.ts"
import { chatText } from "../../strings/chat.ts"

interface AttachmentOptions extends CompletionOptions {
  session(): TerminalSession | undefined
}

/** Files that are sent with the text: named with `@path`, dropped on the terminal, or pasted as an image. */
export class Attachments {
  readonly #completion: PathCompletion
  readonly #ports: AttachmentOptions
  readonly #readImage: () => Promise<ClipboardImage>
  #isPasting = false

  constructor(ports: AttachmentOptions, readImage = readFromClipboard) {
    this.#ports = ports
    this.#readImage = readImage
    this.#completion = new PathCompletion(ports)
  }

  /** Handles a key; false if it has nothing to do with files. */
  handleKey({ type }: Press): boolean {
    if (type === "complete") this.#completion.complete()
    else if (type === "paste-image") void this.pasteImage()
    else return false
    return true
  }

  /** Called after each key: the path at the cursor may have changed. */
  keyPressed({ type }: Press): void {
    if (type !== "complete") void this.#completion.update()
  }

  /** Why the text cannot be sent yet. */
  get obstacle(): string | undefined {
    const { words, editor } = this.#ports.input
    if (this.#isPasting) return chatText.imageUploading
    return words.trim() === "" && editor.files ? chatText.attachmentAlone : undefined
  }

  lines(columns: number): Line[] {
    const files = this.#ports.input.editor.files ?? []
    const attached =
      files.length === 0 ? [] : [clip(line(`${describeFiles(files)}${chatText.removeAttachment}`, DIM), columns)]
    return [...attached, ...this.#completion.lines(columns)]
  }

  /** Uploads the image in the clipboard and attaches it. */
  async pasteImage(): Promise<void> {
    const { session, showHint, input, changed } = this.#ports
    const open = session()
    if (!open) return showHint(chatText.pasteWhileOpening)
    if (this.#isPasting) return
    this.#isPasting = true
    showHint(chatText.readingClipboard)
    try {
      const image = await this.#readImage()
      if ("problem" in image) return showHint(image.problem)
      const name = `pasted.${image.type.replace("image/", "").replace("jpeg", "jpg")}`
      const file: MessageFile = await open.client.uploadFile({ file: new Uint8Array(image.bytes), query: { name } })
      const files = (input.editor.files ?? []).filter(({ id }) => id !== file.id)
      input.editor = { ...input.editor, files: [...files, file] }
      showHint("")
    } catch (error) {
      showHint("")
      open.printError(error)
    } finally {
      this.#isPasting = false
      changed()
    }
  }

  /** Called after a paste: if the text is a dropped file, it is replaced by `@path`. */
  async textPasted(text: string): Promise<void> {
    const { input, changed, showHint } = this.#ports
    const paths = droppedPaths(text)
    if (!paths) return
    const end = input.editor.at
    const all = await Promise.all(paths.map(isFile))
    const [start, { text: written, at }] = [end - text.length, input.editor]
    // If the text was edited in the meantime, it stays as it is. A path after an @ is already a reference.
    if (!all.every(Boolean) || written.slice(start, end) !== text || /[@"]$/.test(written.slice(0, start))) return
    const before = /(?:^|\s)$/.test(written.slice(0, start)) ? "" : " "
    const named = `${before}${paths.map((path) => toReference(path, false)).join(" ")} `
    input.editor = {
      ...input.editor,
      text: written.slice(0, start) + named + written.slice(end),
      at: at >= end ? at + named.length - text.length : at,
    }
    showHint(paths.length === 1 ? chatText.fileAttached : chatText.filesAttached)
    changed()
  }
}

/** Loaded on first use: few people paste images. */
const readFromClipboard = async (): Promise<ClipboardImage> =>
  (await import("../attachments/clipboard-image.ts")).readClipboardImage()

const isFile = (path: string): Promise<boolean> =>
  stat(resolvePath(path)).then(
    (matches) => matches.isFile(),
    () => false,
  )
