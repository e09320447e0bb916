// Reads PowerShell scripts as a JSON list of strings, and prints for each a list of the
// places that a parser doesn't understand, and the commands that it calls.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Language, Parser } from 'web-tree-sitter'

const path = createRequire(import.meta.url).resolve('tree-sitter-powershell/tree-sitter-powershell.wasm')
await Parser.init()
const parser = new Parser()
parser.setLanguage(await Language.load(path))

const results = JSON.parse(readFileSync(0, 'utf8')).map(script => {
  const problems = [], commands = []
  const walk = node => {
    if (node.isError || node.isMissing) {
      problems.push(`line ${node.startPosition.row + 1}: ${node.text || node.type}`)
    }
    if (node.type === 'command_name') {
      commands.push(node.text)
    }
    node.children.forEach(walk)
  }
  walk(parser.parse(script).rootNode)
  return { problems, commands }
})
console.log(JSON.stringify(results))
