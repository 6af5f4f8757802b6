import { definePack, type DeviceCalls } from "../../core/pack.ts"
import { createFilesAgent, type FilesOptions } from "./agent.ts"
import { createDeviceFilesAgent } from "./device-files.ts"

export interface FilesServices {
  /** The work folder on this machine. Without one, the files are those on people's devices. */
  readonly files?: FilesOptions | undefined
  readonly devices: DeviceCalls
}

export const filesPack = definePack({
  name: "files",
  open({ files, devices }: FilesServices) {
    return { agents: [files ? createFilesAgent(files) : createDeviceFilesAgent(devices)] }
  },
})
