import { type Answer, answer, type CallContext, defineTool, type ReadTool, type Tool } from "../../core/pack.ts"
import { type Folder, fileRefusal } from "./folder/folder.ts"
import { displayName } from "./folder/display-name.ts"

type Reading<Input> = Pick<ReadTool<Input>, "name" | "description" | "input" | "examples" | "timeoutSeconds"> & {
  read(input: Input, context: CallContext): Promise<string> | string
  /** State that is stored in the conversation with the result. */
  state?(input: Input): Readonly<Record<string, unknown>>
}

/** A tool that reads the folder. The contents are private to the user. */
export function readTool<Input>(folder: Folder, { read, state, ...tool }: Reading<Input>): Tool {
  return defineTool<Input>({
    ...tool,
    effect: "read",
    afterCrash: "run-again",
    taint: "private",
    async run(input, context) {
      enterFolder(folder, context)
      const text = await read(input, context)
      const remembered = Object.entries({ ...homeOf(folder, context).state, ...state?.(input) })
      const news = remembered.filter(([key, value]) => context.state[key] !== value)
      return answer(text, news.length > 0 ? { state: Object.fromEntries(news) } : {})
    },
  })
}

/** State that binds the conversation to this folder, recorded with its first result. */
export function homeOf({ root }: Folder, { state }: CallContext): Pick<Answer, "state"> {
  return state[HOME] === root ? {} : { state: { [HOME]: root } }
}

const HOME = "folder"

/**
 * Must be called before any read or write. Refuses a conversation of another folder, which would read and write the
 * wrong files with the same names.
 */
export function enterFolder({ root, trust }: Folder, { state, noteTaint }: CallContext): void {
  // Names, outputs and errors are also text of the folder.
  if (!trust.isTrusted) noteTaint?.("folder")
  const home = state[HOME]
  if (home === undefined || home === root) return
  throw fileRefusal(
    `This conversation works in ${displayName(String(home))}, and this is ${displayName(root)}. Continue it there, or start a new one here`,
  )
}
