import {
  type Answer,
  answer,
  type CallContext,
  defineTool,
  type ReadTool,
  type Tool,
} from "../../agent/definition/tool.ts"
import { type Folder, fileRefusal } from "./folder/folder.ts"
import { shown } from "./folder/shown.ts"

type Reading<Input> = Pick<ReadTool<Input>, "name" | "description" | "input" | "phrases" | "timeoutSeconds"> & {
  read(input: Input, context: CallContext): Promise<string> | string
}

/** A tool that looks at the folder. What files hold is the person's own; it is told to nobody else. */
export function readTool<Input>(folder: Folder, { read, ...tool }: Reading<Input>): Tool {
  return defineTool<Input>({
    ...tool,
    effect: "read",
    afterCrash: "run-again",
    brings: "private",
    async run(input, context) {
      requireHome(folder, context)
      return answer(await read(input, context), homeOf(folder, context))
    },
  })
}

/** The conversation's folder, put on record with its first result. */
export function homeOf({ root }: Folder, { state }: CallContext): Pick<Answer, "state"> {
  return state[HOME] === root ? {} : { state: { [HOME]: root } }
}

const HOME = "folder"

/** A conversation taken up in another folder than its own would read and write the wrong files under the right names. */
export function requireHome({ root }: Folder, { state }: CallContext): void {
  const home = state[HOME]
  if (home === undefined || home === root) return
  throw fileRefusal(
    `This conversation works in ${shown(String(home))}, and this is ${shown(root)}. Go on with it there, or begin a new one here`,
  )
}
