import { execFile } from "node:child_process"
import { IMAGE_TYPES, MAX_MESSAGE_FILE_BYTES } from "../../../core/protocol/conversation/message.ts"
import { chatText } from "../../strings/chat.ts"

/** A program that prints the content of the clipboard. */
export interface ClipboardProgram {
  readonly program: string
  /** Arguments that list the types in the clipboard, one per line. Without it the program prints a PNG or nothing. */
  readonly types?: readonly string[]
  read(type: string): readonly string[]
  decode?(output: Buffer): Buffer
}

export type ClipboardImage = { readonly bytes: Buffer; readonly type: string } | { readonly problem: string }

/** A program that waits for an unresponsive window would wait forever. */
const TIMEOUT_MS = 5000

const XCLIP = ["-selection", "clipboard", "-o", "-t"]
const MAC: readonly ClipboardProgram[] = [
  { program: "pngpaste", read: () => ["-"] },
  {
    program: "osascript",
    read: () => ["-e", "get the clipboard as «class PNGf»"],
    // It prints «data PNGf89504E47…».
    decode: (output) => Buffer.from(/PNGf([0-9A-F]*)/.exec(output.toString("latin1"))?.[1] ?? "", "hex"),
  },
]
const OTHERS: readonly ClipboardProgram[] = [
  { program: "wl-paste", types: ["--list-types"], read: (type) => ["--no-newline", "--type", type] },
  { program: "xclip", types: [...XCLIP, "TARGETS"], read: (type) => [...XCLIP, type] },
]

const usual = (): readonly ClipboardProgram[] => (process.platform === "darwin" ? MAC : OTHERS)

/** Reads the image in the clipboard, or says why there is none. The server detects its type by content. */
export async function readClipboardImage(programs = usual()): Promise<ClipboardImage> {
  let isThere = false
  for (const { program, types, read, decode } of programs) {
    const listed = types ? await run(program, types) : IMAGE_TYPES[0]
    if (listed === "missing") continue
    isThere = true
    // The program may be meant for another display server.
    if (listed === "failed") continue
    if (listed === "too-large") return { problem: chatText.noImage }
    const offered = listed.toString().split(/\s+/)
    const type = IMAGE_TYPES.find((each) => offered.includes(each))
    if (!type) return { problem: chatText.noImage }
    const output = await run(program, read(type))
    if (output === "too-large") return { problem: chatText.imageTooLarge(MAX_MESSAGE_FILE_BYTES / 1_000_000) }
    if (output === "missing") isThere = types !== undefined
    if (typeof output === "string") continue
    const bytes = decode ? decode(output) : output
    if (bytes.length > MAX_MESSAGE_FILE_BYTES)
      return { problem: chatText.imageTooLarge(MAX_MESSAGE_FILE_BYTES / 1_000_000) }
    return bytes.length > 0 ? { bytes, type } : { problem: chatText.noImage }
  }
  const names = programs.map(({ program }) => program)
  return { problem: isThere ? chatText.clipboardUnreadable : chatText.noClipboardProgram(names) }
}

/** Runs without a shell, with a limit on time and output. */
function run(program: string, words: readonly string[]): Promise<Buffer | "missing" | "failed" | "too-large"> {
  const limits = { timeout: TIMEOUT_MS, killSignal: "SIGKILL", maxBuffer: 2 * MAX_MESSAGE_FILE_BYTES + 1000 } as const
  return new Promise((resolve) => {
    execFile(program, words, { ...limits, encoding: "buffer", windowsHide: true }, (error, output) => {
      if (!error) return resolve(output)
      if (error.code === "ENOENT" || error.code === "EACCES") return resolve("missing")
      resolve((error.code as unknown) === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER" ? "too-large" : "failed")
    })
  })
}
