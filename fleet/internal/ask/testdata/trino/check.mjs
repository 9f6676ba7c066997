// Prints the errors that the grammar of Trino in dt-sql-parser reports for the SQL on
// standard input, one per line. The argument is the package's directory. Its imports lack
// the extensions that Node.js requires.
import { register } from 'node:module';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

register('data:text/javascript,' + encodeURIComponent(`
export async function resolve(name, context, next) {
  try { return await next(name, context); } catch (e) {
    for (const end of ['.js', '/index.js']) {
      try { return await next(name + end, context); } catch {}
    }
    throw e;
  }
}`));
const { TrinoSQL } = await import(pathToFileURL(process.argv[2] + '/dist/index.js'));
for (const e of new TrinoSQL().validate(readFileSync(0, 'utf8'))) {
  console.log(`${e.startLine}:${e.startColumn}: ${e.message}`);
}
