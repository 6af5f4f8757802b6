import { filesIn, type MessageFile } from "../../src/protocol/index.ts"
import { MessageFiles } from "../parts/message-files.tsx"
import { defineView } from "./define-view.ts"

/** `{ kind: "files", files }`: what a result has brought, each to be saved; an image as a small picture. */
export const filesView = defineView<readonly MessageFile[]>({
  kind: "files",
  read: (data) => {
    const files = filesIn(data)
    return files.length > 0 ? files : undefined
  },
  Draw: ({ data }) => <MessageFiles files={data} isBrought />,
})
