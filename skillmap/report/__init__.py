"""The findings as one self-contained HTML page."""

from skillmap.report.page import html_report

__all__ = ["html_report"]
