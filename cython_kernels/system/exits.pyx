"""The exit code of a SystemExit that ends the interpreter, for which CPython has no hook.

However it is raised (``sys.exit``, ``exit``, ``raise SystemExit``), the interpreter reads the exception's attribute
``code`` before it runs ``atexit`` functions. So the descriptor of that attribute is wrapped: a value that is read
in the main thread, when no Python code is running any more, is the exit code of the process. Before CPython 3.12
``sys.exit`` makes the instance only when it is needed; so the C function behind it is wrapped as well, which
holds for names bound to it earlier.
"""

import sys
import threading

from cpython.exc cimport PyErr_Fetch, PyErr_NormalizeException, PyErr_Restore
from cpython.object cimport PyObject, PyTypeObject

cdef extern from *:
    """
    #if PY_VERSION_HEX < 0x030C0000
    #define GL_EXIT_IS_LAZY 1
    #else
    #define GL_EXIT_IS_LAZY 0
    #endif
    static PyMethodDef *gl_definition(PyObject *function) {
        return ((PyCFunctionObject *)function)->m_ml;
    }
    static PyObject *gl_members(PyObject *type) { /* since 3.12 a type of the interpreter keeps none in tp_dict */
    #if PY_VERSION_HEX < 0x030C0000
        return Py_NewRef(((PyTypeObject *)type)->tp_dict);
    #else
        return PyType_GetDict((PyTypeObject *)type);
    #endif
    }
    """
    const bint GL_EXIT_IS_LAZY
    ctypedef struct PyMethodDef:
        void *ml_meth
        int ml_flags
    PyMethodDef *gl_definition(object function)
    object gl_members(object type)
    const int METH_FASTCALL

cdef extern from "Python.h":
    PyObject *PyEval_GetFrame()
    void PyType_Modified(PyTypeObject *)

ctypedef PyObject *(*fastcall)(PyObject *, PyObject **, Py_ssize_t) noexcept

cdef fastcall original_exit = NULL
cdef object ended_with = 0


cdef class Code:
    """The attribute ``code`` of SystemExit, which remembers what was read at the end."""

    cdef object member

    def __init__(self, member):
        self.member = member

    def __get__(self, error, kind):
        global ended_with
        if error is None:
            return self
        code = self.member.__get__(error, kind)
        if PyEval_GetFrame() == NULL and threading.current_thread() is threading.main_thread():
            ended_with = 0 if code is None else int(code) & 0xff if isinstance(code, int) else 1
        return code

    def __set__(self, error, code):
        self.member.__set__(error, code)

    def __delete__(self, error):
        self.member.__delete__(error)


cdef PyObject *exit_with_instance(PyObject *module, PyObject **arguments, Py_ssize_t count) noexcept:
    cdef PyObject *kind
    cdef PyObject *value
    cdef PyObject *trace
    cdef PyObject *nothing = original_exit(module, arguments, count)
    PyErr_Fetch(&kind, &value, &trace)
    PyErr_NormalizeException(&kind, &value, &trace)
    PyErr_Restore(kind, value, trace)
    return nothing


def watch() -> None:
    """Wrap the attribute; a second call does nothing."""
    global original_exit
    cdef PyMethodDef *definition = gl_definition(sys.exit) if type(sys.exit) is type(len) else NULL
    members = gl_members(SystemExit)
    if isinstance(members["code"], Code):
        return
    members["code"] = Code(members["code"])
    PyType_Modified(<PyTypeObject *>SystemExit)
    if GL_EXIT_IS_LAZY and definition != NULL and definition.ml_flags == METH_FASTCALL:
        original_exit = <fastcall>definition.ml_meth
        definition.ml_meth = <void *>exit_with_instance


def exit_code() -> int:
    """Return the code that the interpreter ends with, 0 while it does not end."""
    return int(ended_with)
