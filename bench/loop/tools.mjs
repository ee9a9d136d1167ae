/** The tools of the benchmark's agent, as a coding agent declares them. Nothing runs them. */

const text = (description) => ({ type: "string", description });
const integer = (description, more = {}) => ({ type: "integer", description, ...more });
const flag = (description) => ({ type: "boolean", description });

function tool(name, description, properties, required) {
  const parameters = { type: "object", properties, required, additionalProperties: false };
  return { type: "function", name, description, parameters, strict: false };
}

export const TOOLS = [
  tool(
    "list_files",
    "List files and folders below a folder of the workspace, one a line, folders with a slash at the end. Files that git ignores are left out.",
    {
      path: text("Folder, relative to the root of the workspace."),
      depth: integer("How many levels to go down; 1 is the folder itself.", {
        minimum: 1,
        maximum: 8,
      }),
      include_hidden: flag("Also list names that begin with a dot."),
    },
    ["path"],
  ),
  tool(
    "read_file",
    "Read a text file of the workspace, or a range of its lines. Long files are cut: ask for the range that is missing.",
    {
      path: text("File, relative to the root of the workspace."),
      first_line: integer("First line to read, counted from 1.", { minimum: 1 }),
      last_line: integer("Last line to read, the line itself included.", { minimum: 1 }),
    },
    ["path"],
  ),
  tool(
    "search",
    "Search the files of the workspace for a regular expression. Answers lines of the form path:line:text, at most max_results of them.",
    {
      pattern: text("Regular expression, in the syntax of ripgrep."),
      path: text("File or folder to search in; the whole workspace when it is left out."),
      glob: text("Only files whose path matches this glob, such as src/**/*.ts."),
      case_sensitive: flag("Whether upper and lower case differ; they do not by default."),
      max_results: integer("Largest number of lines in the answer.", { minimum: 1, maximum: 200 }),
    },
    ["pattern"],
  ),
  tool(
    "apply_patch",
    "Change one file of the workspace: each edit replaces a text that occurs exactly once. Nothing is changed when one of the edits does not fit.",
    {
      path: text("File, relative to the root of the workspace; it is made when it does not exist."),
      edits: {
        type: "array",
        minItems: 1,
        items: {
          type: "object",
          properties: {
            old_text: text(
              "Text to replace, with enough around it to be unique. Empty for a new file.",
            ),
            new_text: text("Text to put in its place."),
          },
          required: ["old_text", "new_text"],
          additionalProperties: false,
        },
      },
    },
    ["path", "edits"],
  ),
  tool(
    "run_tests",
    "Run the tests of the workspace and answer their report, failures with their message and place.",
    {
      filter: text("Run only the files whose path contains this text."),
      update_snapshots: flag("Accept the present output as the expected one."),
      timeout_seconds: integer("Stop after this time.", { minimum: 1, maximum: 600 }),
    },
    [],
  ),
  tool(
    "run_command",
    "Run a shell command in the root of the workspace, without network. Answers the exit code and what was printed.",
    {
      command: text("Command line, run by bash."),
      timeout_seconds: integer("Stop after this time.", { minimum: 1, maximum: 600 }),
    },
    ["command"],
  ),
];
