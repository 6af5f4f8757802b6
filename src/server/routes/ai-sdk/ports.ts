import type { MessageFiles } from "../../../protocol/ports/message-files.ts"
import type { StreamPorts } from "../../stream/ports.ts"

/** Beside what every stream needs: files that come with words. */
export interface AiSdkPorts extends StreamPorts {
  readonly messageFiles: Pick<MessageFiles, "keep" | "use">
  readonly bytesOfFiles: number
}
