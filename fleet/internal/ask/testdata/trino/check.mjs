// Prints what the grammar of Trino in dt-sql-parser says of the SQL on standard input, a line
// for each error. The package's own imports lack the endings that Node.js asks for.
import { register } from 'node:module';
import { readFileSync } from 'node:fs';

register('data:text/javascript,' + encodeURIComponent(`
export async function resolve(name, context, next) {
  try { return await next(name, context); } catch (e) {
    for (const end of ['.js', '/index.js']) {
      try { return await next(name + end, context); } catch {}
    }
    throw e;
  }
}`));
const { TrinoSQL } = await import('dt-sql-parser');
for (const e of new TrinoSQL().validate(readFileSync(0, 'utf8'))) {
  console.log(`${e.startLine}:${e.startColumn}: ${e.message}`);
}
