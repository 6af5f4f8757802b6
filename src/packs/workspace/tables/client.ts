import { name, reference, text } from "./kinds.ts"
import { given, tablePhrase, takeEndings, unquote } from "./phrase.ts"
import type { TableSpec } from "./table.ts"

const CLIENT = "(?: the| my)? client:? (?<client>.+)"

/** Whom projects are for. */
export const clientTable: TableSpec = {
  name: "clients",
  plural: "clients",
  argument: "client_id",
  fields: [
    { argument: "name", column: "name", kind: name(), create: "required" },
    { argument: "industry", column: "industry", kind: text(500, "orNone"), create: "optional", label: "industry" },
    {
      ...{ argument: "parent_id", column: "parentId", kind: reference("clients", "orNone") },
      ...{
        create: "optional",
        label: "part of",
        about: 'The client that it is a part of, by id or exact name; "none"',
      },
    },
  ],
  lists: [
    {
      name: "list_clients",
      description: "List the person's clients with name, industry and id.",
      filters: [],
      phrases: [
        tablePhrase("(?:list|show|what are|who are)(?: me)?(?: all)?(?: of)?(?: my| the)? ?clients", "list my clients"),
        tablePhrase("how many clients(?: do i have| are there)?", "how many clients do I have"),
      ],
    },
  ],
  create: {
    ...{ name: "create_client", verb: "create", done: "created" },
    description: "Propose a new client.",
    phrases: [
      tablePhrase(
        "(?:add|create|make|new)(?: me)?(?: a| another)?(?: new)? client(?:: ?| called | named | )(?<name>.+)",
        "add a client called Acme",
        (_, quoted) => {
          const { rest, found } = takeEndings(quoted("name"), {
            industry: [" in the industry ", " in industry ", ", industry "],
          })
          return given({ name: unquote(rest), industry: found.industry })
        },
      ),
    ],
  },
  update: {
    name: "update_client",
    description: "Propose a change of one client: only the arguments you give are changed.",
    phrases: [
      tablePhrase(
        "rename(?: the| my)? client (?<client>.+?) to (?<name>.+)",
        "rename client Acme to Acme Ltd",
        (said) => ({
          client_id: said("client"),
          name: said("name"),
        }),
      ),
    ],
  },
  delete: {
    name: "delete_client",
    description: "Propose to delete one client. Refused while it has projects or clients that are a part of it.",
    phrases: [
      tablePhrase(`(?:delete|remove)${CLIENT}`, "delete client Acme", (said) => ({ client_id: said("client") })),
    ],
  },
  restore: "restore_client",
  profile: {
    name: "client",
    description: "Clients: whom projects are for. Listing, adding, renaming and deleting them.",
    examples: ["list my clients", "add a client called Acme", "who are my clients?", "delete client Acme"],
  },
}
