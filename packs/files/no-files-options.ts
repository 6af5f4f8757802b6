import type { FilesOptions } from "./agent.ts"
import { type Folder, fileRefusal } from "./folder/folder.ts"
import { noSandbox } from "./sandbox/sandbox.ts"

function refuse(): never {
  throw fileRefusal("There is no folder here")
}

/** A folder that does not exist, for callers that only need the declarations of the tools. */
const noFolder: Folder = {
  root: "",
  id: "",
  trust: { isTrusted: false },
  lookup: "descriptors",
  excluded: [],
  identityOf: refuse,
  kindOf: refuse,
  find: refuse,
  realPath: refuse,
  list: refuse,
  read: refuse,
  write: refuse,
  remove: refuse,
  move: refuse,
  deleteStaleDrafts: refuse,
  makeDirectory: refuse,
  removeDirectory: refuse,
  removeEntry: refuse,
  linkText: refuse,
  openDirectory: refuse,
  [Symbol.dispose]() {},
}

export const noFilesOptions: FilesOptions = {
  folder: noFolder,
  undoBytes: { store: refuse, get: refuse },
  sandbox: noSandbox,
  environment: {},
}
