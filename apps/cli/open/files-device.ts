import { makeFolders } from "../../../core/shared/processes/make-folders.ts"
import { createHash } from "node:crypto"
import { hostname } from "node:os"
import { join } from "node:path"
import { type Device, type DeviceOptions, openDevice } from "../../../client/device/index.ts"
import { filesTools } from "../../../packs/files/agent.ts"
import type { EditorBuffers } from "../../../packs/files/editor-buffers.ts"
import { fileHandlers, fileReaders } from "../../../packs/files/device-handlers.ts"
import { hasCode } from "../../../core/protocol/errors.ts"
import { CommandError } from "../process/command.ts"
import { toFolder } from "./trusted-folders.ts"
import type { Config } from "../settings/config.ts"
import { filesOptions } from "../../../core/compose/files-options.ts"
import { connectionText } from "../../strings/serve.ts"
import { withoutSystemText } from "../../../core/shared/text/system-errors.ts"
import { clientErrorText } from "../process/error-text.ts"

export interface FilesDevice extends AsyncDisposable {
  readonly deviceId: string
  /** The real path of the folder. */
  readonly dir: string
}

interface FilesDeviceOptions {
  readonly server: string
  readonly dir: string
  readonly buffers?: EditorBuffers | undefined
}

/**
 * Connects a folder of this machine to a server as a device. Resolves when it is connected. The same folder is always
 * the same device, so that its conversations find it again.
 */
export async function openFilesDevice(config: Config, where: FilesDeviceOptions): Promise<FilesDevice> {
  const { token, dataFolder } = config
  const server = where.server.replace(/(?<!\/)\/+$/, "")
  if (!token) throw new CommandError(connectionText.missingToken)
  const folder = toFolder(where.dir, config)
  const name = createHash("sha256").update(`${hostname()}\0${folder.root}\0${server}`).digest("hex").slice(0, 32)
  const files = join(dataFolder, "folders")
  makeFolders(files)
  const tools = filesTools({ ...filesOptions(config, folder), buffers: where.buffers })
  const connected = Promise.withResolvers<Error | undefined>()
  const options: DeviceOptions = {
    server,
    token,
    db: join(files, `${name}.db`),
    deviceId: `files-${name}`,
    handlers: fileHandlers(tools, config.secrets),
    readers: fileReaders(tools),
    offers: ["files"],
    workspace: false,
    embedsNotes: false,
    onState(state) {
      if (state.state === "connected") connected.resolve(undefined)
      // After a first connection the device reconnects; a server that was never reachable is a usage error.
      if (state.state === "waiting")
        connected.resolve(new Error(connectionText.unreachable(withoutSystemText(state.reason))))
    },
  }
  const device = openOrRefuse(options, folder)
  const close = async () => {
    await device.close()
    folder[Symbol.dispose]()
  }
  const refused = await Promise.race([connected.promise, device.ended])
  if (refused) {
    await close()
    throw new CommandError(clientErrorText(refused))
  }
  return { deviceId: device.deviceId, dir: folder.root, [Symbol.asyncDispose]: close }
}

/** Translates errors about devices, which the user of a folder does not know. */
function openOrRefuse(options: DeviceOptions, folder: Disposable & { readonly root: string }): Device {
  try {
    return openDevice(options)
  } catch (error) {
    folder[Symbol.dispose]()
    if (!hasCode(error, "device_in_use")) throw error
    throw new CommandError(connectionText.folderInUse(folder.root))
  }
}
