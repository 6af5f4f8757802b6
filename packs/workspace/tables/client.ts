import { name, reference, text } from "./kinds.ts"
import type { TableSpec } from "./table.ts"

/** The clients that projects are for. */
export const clientTable: TableSpec = {
  name: "clients",
  plural: "clients",
  argument: "client_id",
  fields: [
    { argument: "name", column: "name", kind: name(), create: "required" },
    {
      argument: "industry",
      column: "industry",
      kind: text(500, { optional: true }),
      create: "optional",
      label: "industry",
    },
    {
      ...{ argument: "parent_id", column: "parentId", kind: reference("clients", { optional: true }) },
      ...{
        create: "optional",
        label: "part of",
        about: 'The client that it belongs to, by id or exact name; "none"',
      },
    },
  ],
  lists: [
    {
      name: "list_clients",
      description: "List the person's clients with name, industry and id.",
      filters: [],
      examples: ["list my clients", "how many clients do I have"],
    },
  ],
  create: {
    ...{ name: "create_client", verb: "create", done: "created" },
    description: "Propose a new client.",
    examples: ["add a client called Acme"],
  },
  update: {
    name: "update_client",
    description: "Propose a change of one client: only the arguments you pass are changed.",
    examples: ["rename client Acme to Acme Ltd"],
  },
  delete: {
    name: "delete_client",
    description: "Propose to delete one client. Refused while it has projects or sub-clients.",
    examples: ["delete client Acme"],
  },
  restore: "restore_client",
  profile: {
    name: "client",
    description: "Clients that projects belong to. Listing, adding, renaming and deleting them.",
  },
}
