// Package tracetest makes traces for the tests of what reads them.
package tracetest
