"""The workbench: a page in the browser on the library."""
